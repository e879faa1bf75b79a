// Anything exported here is public.
export { createFileReader, type FileReader, type FileReaderOptions, isReadableFile } from './reader.js';
export type { Anchor, FileFailure, FileResult, FileText } from './file-text.js';
