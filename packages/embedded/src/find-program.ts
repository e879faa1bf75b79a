import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { readPath } from './environment.js';

/** Returns the absolute path of an executable on the PATH, or undefined when there is none of this name. */
export function findProgram(name: string): string | undefined {
  return readPath()
    .map((directory) => join(directory, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
