import { homedir, userInfo } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';

/** Where what was fetched once is kept for all checkouts of this user. */
export function readCacheDir(): string {
  // HOME may be set to nothing; the user database still knows the directory then.
  const home = homedir() || userInfo().homedir;
  return join(process.env['XDG_CACHE_HOME'] || join(home, '.cache'), 'workspace-knowledge-platform');
}

/** The package index that pip would use; other variables and files of pip are not read. */
export function readPythonIndex(): URL {
  const index = process.env['PIP_INDEX_URL'] || 'https://pypi.org/simple';
  return new URL(index.endsWith('/') ? index : `${index}/`);
}

/** The directories in which programs are looked for. */
export const readPath = (): string[] => (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
