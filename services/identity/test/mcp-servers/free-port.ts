import { once } from 'node:events';
import { createServer } from 'node:net';

/** Finds a port for a program that cannot choose one itself. */
export async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}
