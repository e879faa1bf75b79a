import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { LaunchError } from './launch-error.js';
import type { Stoppable } from './teardown.js';

/** Name of the lock inside the data folder. */
export const LOCK_NAME = 'instance.lock';

/** The longest path of a socket: 108 bytes on Linux, 104 on macOS, the final NUL included. */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * Makes this process the only launcher on a data folder.
 *
 * The lock is a listening Unix socket. The kernel closes it when the process ends, so the lock is held exactly when a
 * process answers on it, and a file left by `kill -9` has no effect. The holder reports its pid to other processes.
 */
export async function acquireLock(dataDir: string, description: string): Promise<Stoppable> {
  const path = socketPath(join(dataDir, LOCK_NAME));
  const holder = await askHolder(path);
  if (holder !== undefined) {
    throw new LaunchError(
      `Another platform runs on ${dataDir}: ${holder}. Stop it, or choose another --data-dir.`,
    );
  }
  await rm(path, { force: true });
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(description);
  });
  server.listen(path);
  await once(server, 'listening');
  // Two concurrent starts may both have found no holder. The later socket then replaced the earlier one, whose owner yields.
  if ((await askHolder(path)) !== description) {
    throw new LaunchError(`Another platform was started on ${dataDir} at the same moment.`);
  }
  server.unref();
  const stop = async () => {
    server.close();
    await rm(path, { force: true });
  };
  return { name: 'lock', stop, kill: stop };
}

async function askHolder(path: string): Promise<string | undefined> {
  const socket = createConnection(path);
  try {
    return await text(socket);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return undefined;
    throw new LaunchError(`The lock ${path} can't be checked: ${(error as Error).message}`);
  }
}

function socketPath(path: string): string {
  const shortest = [path, relative(process.cwd(), path)].toSorted((a, b) => a.length - b.length)[0] as string;
  if (Buffer.byteLength(shortest) <= MAX_SOCKET_PATH_BYTES) return shortest;
  throw new LaunchError(
    `The path of the data folder is too long for a socket in it: ${path}. Choose a shorter one.`,
  );
}
