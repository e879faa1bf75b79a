import { mkdtemp, realpath, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY_DIR = '/dev/shm';
const MEMORY_FREE_BYTES_MIN = 2 * 1024 ** 3;

/**
 * Creates an empty directory, in memory if there is room: a database has about 300 files, and cloning one took 15 ms
 * in memory and 265 ms on a virtual machine's disk. The 64 MB of containers are too little.
 */
export async function makeTemporaryDir(prefix: string): Promise<string> {
  const parent = (await hasRoomInMemory()) ? MEMORY_DIR : await realpath(tmpdir());
  return mkdtemp(join(parent, prefix));
}

async function hasRoomInMemory(): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(MEMORY_DIR);
    return bavail * bsize >= MEMORY_FREE_BYTES_MIN;
  } catch {
    return false;
  }
}
