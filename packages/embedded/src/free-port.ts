import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports below those of outgoing connections on Linux (32768–60999), any of which could take the port meanwhile. */
const FIRST = 10_000;
const LAST = 32_767;
const MAX_TRIES = 100;

async function isFree(port: number, host: string): Promise<boolean> {
  const server = createServer();
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/**
 * Returns a TCP port on which nothing listened a moment ago; another process may take it before the caller does.
 *
 * @throws Error when none of many ports was free, or the host is not an address of this machine.
 */
export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    const port = randomInt(FIRST, LAST + 1);
    if (await isFree(port, host)) return port;
  }
  throw new Error(`no free port on ${host} (${MAX_TRIES} tried between ${FIRST} and ${LAST})`);
}
