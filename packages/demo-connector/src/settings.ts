import { isAbsolute } from 'node:path';

/** The configuration, read from the environment. */
export interface Settings {
  /** The base URL of the platform, and a token with the scope `crawl:work`. */
  readonly platformUrl: string;
  readonly platformToken: string;
  /** The ingest endpoint of a search, or a folder. */
  readonly sink: string;
  /** The token for the ingest endpoint, unless it is at the platform's address. */
  readonly sinkToken: string | undefined;
  /** The folder that is crawled as `files_1`. Absolute. */
  readonly folder: string | undefined;
  /** The Git repository that is crawled as `code_1`, by path or URL. */
  readonly repository: string | undefined;
  /** Where the list of what was sent is kept, and the mirror of the repository. */
  readonly cacheDir: string;
  /** How many documents are looked at before another slice follows. */
  readonly documentsPerSlice: number;
}

/** @throws Error that names every variable that is missing or wrong. */
export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  const faults: string[] = [];
  const read = (name: string, isValid: (value: string) => boolean, rule: string): string => {
    const value = environment[name] ?? '';
    if (!isValid(value)) faults.push(`${name} must be ${rule}`);
    return value;
  };
  const folder = environment['FOLDER'] || undefined;
  const repository = environment['REPOSITORY'] || undefined;
  if (folder !== undefined && !isAbsolute(folder)) faults.push('FOLDER must be an absolute path');
  if (folder === undefined && repository === undefined) faults.push('FOLDER or REPOSITORY must be set');
  const perSlice = environment['DOCUMENTS_PER_SLICE'] || undefined;
  if (perSlice !== undefined && !/^[1-9]\d{0,8}$/.test(perSlice))
    faults.push('DOCUMENTS_PER_SLICE must be a positive number');
  const settings = {
    platformUrl: read('PLATFORM_URL', (value) => URL.canParse(value), "the platform's URL"),
    platformToken: read('PLATFORM_TOKEN', (value) => value !== '', 'a token with the scope crawl:work'),
    sink: read('SINK', (value) => value !== '', 'the ingest endpoint of a search, or a folder'),
    cacheDir: read('CACHE_DIR', isAbsolute, 'an absolute path, for what the worker has to remember'),
  };
  if (faults.length > 0) throw new Error(faults.join('; '));
  return {
    ...settings,
    sinkToken: environment['SINK_TOKEN'] || undefined,
    folder,
    repository,
    documentsPerSlice: Number(perSlice ?? Infinity),
  };
}
