import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where what was fetched once is kept for all checkouts of this user. */
export function readCacheDir(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'workspace-knowledge-platform');
}
