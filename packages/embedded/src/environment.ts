import { homedir, userInfo } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';

/** Returns the cache directory for downloads, which all checkouts of this user share. */
export function readCacheDir(): string {
  // HOME may be set to nothing; the user database still knows the directory then.
  const home = homedir() || userInfo().homedir;
  return join(process.env['XDG_CACHE_HOME'] || join(home, '.cache'), 'workspace-knowledge-platform');
}

/** Returns the directories in which programs are searched. */
export const readPath = (): string[] => (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
