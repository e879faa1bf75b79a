import { once } from 'node:events';
import { createServer } from 'node:net';
import { findFreePort } from '../src/index.js';

test('a free port is outside the range of outgoing connections, and can be listened on', async () => {
  const port = await findFreePort();
  expect(port).toBeLessThan(32_768);
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
});

test('fails for a host that is not an address of this machine', async () => {
  await expect(findFreePort('192.0.2.1')).rejects.toThrow('no free port on 192.0.2.1');
});
