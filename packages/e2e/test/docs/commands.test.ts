import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SERVICES } from '@platform/local/services';
import { read, root } from './files.js';

/* The commands that the programs have, against the table in the operations guide. */

async function listCommands(service: string): Promise<string[]> {
  const program = join(root, 'services', service, 'dist/cli.js');
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--help'], { env: {} });
  return [...stdout.matchAll(/^ {2}([a-z][a-z-]*)\b/gm)].map(([, name = '']) => name);
}

test('OPS-10 the guide lists the commands that the programs have, and no others', async () => {
  const [, table = ''] = /^## Commands\n([^]*?)\n## /m.exec(read('k8s/README.md')) ?? [];
  const listed = [...table.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([a-z][a-z-]*)[^`]*`/g)].map(([, name = '']) => name),
  );
  const known = await Promise.all(SERVICES.map(({ name }) => listCommands(name)));
  expect(new Set(known.flat()).size).toBeGreaterThan(10);
  expect([...new Set(listed)].toSorted()).toEqual([...new Set(known.flat())].toSorted());
});
