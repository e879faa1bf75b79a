import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../../../..');

/** Files that programs wrote, and files of other projects. */
const skipped = /(?:^|\/)(?:node_modules|dist|generated|results|\.[^/]+)(?:\/|$)/;

/** @returns the paths of the files below a folder, relative to the root of the repository. */
export function listFiles(folder: string, isWanted: (path: string) => boolean): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (skipped.test(path)) return [];
    if (entry.isDirectory()) return listFiles(path, isWanted);
    return isWanted(path) ? [path] : [];
  });
}

export const read = (path: string): string => readFileSync(join(root, path), 'utf8');
