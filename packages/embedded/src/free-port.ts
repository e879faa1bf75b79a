import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv6 } from 'node:net';

/** Ports below those of outgoing connections on Linux (32768–60999), any of which could take the port meanwhile. */
const FIRST = 10_000;
const LAST = 32_767;
const MAX_TRIES = 100;
/** Longer than any server takes from the choice of its port until it listens. */
const RESERVATION_MS = 120_000;

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
 * Reserves a TCP port against other callers, also in other processes, by holding the UDP port of the same number: the
 * system lets only one socket have it, and frees it when the process ends.
 *
 * @returns a function that ends the reservation, or undefined when somebody else has one.
 */
async function reserve(port: number, host: string): Promise<(() => void) | undefined> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  socket.bind({ port, address: host, exclusive: true });
  try {
    await once(socket, 'listening');
  } catch {
    return undefined;
  }
  socket.unref();
  return () => socket.close();
}

/**
 * Returns a TCP port on which nothing listens, and which no other call returns for the next two minutes, in any process
 * of this machine. A program that does not ask here may still take it.
 *
 * @param preferred - is returned if it is free.
 * @throws Error when none of many ports was free, or the host is not an address of this machine.
 */
export async function findFreePort(host = '127.0.0.1', preferred?: number): Promise<number> {
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    const port = attempt === 0 && preferred !== undefined ? preferred : randomInt(FIRST, LAST + 1);
    const release = await reserve(port, host);
    if (release === undefined) continue;
    if (await isFree(port, host)) {
      setTimeout(release, RESERVATION_MS).unref();
      return port;
    }
    release();
  }
  throw new Error(`no free port on ${host} (${MAX_TRIES} tried between ${FIRST} and ${LAST})`);
}
