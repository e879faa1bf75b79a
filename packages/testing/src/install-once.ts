import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readCacheDir } from '@platform/embedded';

/**
 * Installs something in the cache directory, the first time. Several processes at once are safe, because a complete
 * folder is renamed into place.
 *
 * @param name - of the folder; it contains the version.
 * @param program - the path of a file in the folder, which is there when the installation is complete.
 * @param install - fills the folder that it is given.
 * @returns the path of the program.
 */
export async function installOnce(
  name: string,
  program: string,
  install: (folder: string) => Promise<unknown>,
): Promise<string> {
  const folder = join(readCacheDir(), name);
  const path = join(folder, program);
  if (existsSync(path)) return path;
  await mkdir(readCacheDir(), { recursive: true });
  const work = await mkdtemp(`${folder}.installing-`);
  try {
    await install(work);
    await rename(work, folder).catch((error: unknown) => {
      if (!existsSync(path)) throw error;
    });
    return path;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
