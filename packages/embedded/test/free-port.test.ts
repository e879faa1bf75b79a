import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '../src/index.js';

const built = join(import.meta.dirname, '../dist/index.js');

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

test('no port is given twice, neither by one process nor by two', async () => {
  // Without reservations, about ten of 800 draws repeat another one.
  const draw = `import { findFreePort } from ${JSON.stringify(built)};
    for (let count = 0; count < 400; count += 1) console.log(await findFreePort());`;
  const own = new Set<number>();
  for (let count = 0; count < 400; count += 1) own.add(await findFreePort());
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', draw]);
  const others = stdout.trim().split('\n').map(Number);
  expect(new Set([...own, ...others]).size).toBe(800);
});
