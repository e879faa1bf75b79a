import type { FileResult } from './file-text.js';
import { UnreadableFile } from './file-text.js';
import { readFileText } from './read-file.js';

/* The child process: it reads one file after the other, and knows nothing but their bytes. */

export interface FileRequest {
  readonly name: string;
  readonly bytes: Uint8Array;
}

async function read({ bytes, name }: FileRequest): Promise<FileResult> {
  try {
    return { isOk: true, ...(await readFileText(bytes, name)) };
  } catch (error) {
    if (error instanceof UnreadableFile) return { isOk: false, reason: error.reason, message: error.message };
    const detail = error instanceof Error ? error.message : String(error);
    return { isOk: false, reason: 'broken', message: `It is broken: ${detail.slice(0, 200)}` };
  }
}

process.on('message', (request) => {
  void read(request as FileRequest).then((result) => process.send?.(result));
});
// Whoever started it is gone.
process.on('disconnect', () => process.exit());
