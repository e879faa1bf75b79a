import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what Linux gives to outgoing connections (32768–60999): any of these could take the port meanwhile. */
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
 * A TCP port that nothing listened on a moment ago; somebody may take it before the caller does.
 *
 * @throws Error when none of many was free, or the host is none of this machine's.
 */
export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    const port = randomInt(FIRST, LAST + 1);
    if (await isFree(port, host)) return port;
  }
  throw new Error(`no free port on ${host} (${MAX_TRIES} tried between ${FIRST} and ${LAST})`);
}
