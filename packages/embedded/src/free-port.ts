import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** A TCP port that nothing listened on a moment ago; somebody may take it before the caller does. */
export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer();
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
