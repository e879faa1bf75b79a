import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LaunchError } from './launch-error.js';

const MARKER = '.platform-data';
const MARKER_TEXT =
  'The data of a local platform. `npm start -- --fresh` deletes everything in this folder.\n';

/** Creates the data folder, or verifies that this program created it, so that nothing is written to a foreign folder. */
export async function openDataDir(dataDir: string): Promise<void> {
  const entries = await readdir(dataDir).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw new LaunchError(`The data folder ${dataDir} can't be used: ${error.message}`);
  });
  if (entries.includes(MARKER)) return;
  if (entries.length > 0) {
    throw new LaunchError(
      `${dataDir} holds something else than the data of a platform (it has no ${MARKER}). Choose another --data-dir.`,
    );
  }
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(join(dataDir, MARKER), MARKER_TEXT);
}

/** Deletes the data of earlier runs, except the names to keep. The folder must have been opened and locked before. */
export async function clearDataDir(dataDir: string, keep: readonly string[]): Promise<void> {
  for (const entry of await readdir(dataDir)) {
    if (entry !== MARKER && !keep.includes(entry))
      await rm(join(dataDir, entry), { recursive: true, force: true });
  }
}
