import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { waitFor } from '@platform/testing';

// Runs the built package, because a separate process cannot use Jest's transform.
const FIXTURE = join(import.meta.dirname, 'fixtures', 'connect-while-closing.mjs');

test('answers the requests of connections that wait to be accepted when a busy process closes its listener', async () => {
  const child = spawn(process.execPath, [FIXTURE], { env: { PATH: process.env.PATH } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const closed = once(child, 'close');
  await waitFor(() => output.includes('serving'), { what: 'the start' });
  child.kill('SIGTERM');
  expect(await closed).toEqual([0, null]);
  expect(output).toContain(`statuses: ${Array(10).fill('200').join(' ')}\n`);
  expect(output).not.toContain('shutdown step failed');
});
