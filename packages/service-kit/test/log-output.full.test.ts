import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Longer than any machine takes, so that a process that hangs is ended. */
const PATIENCE_MS = 30_000;

/** Runs a program that logs, with its stdout at this file, or at a pipe. */
async function run(stdout?: string) {
  const file = stdout === undefined ? 'pipe' : openSync(stdout, 'w');
  const child = spawn(process.execPath, [join(import.meta.dirname, 'fixtures/log.mjs')], {
    stdio: ['ignore', file, 'pipe'],
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  });
  if (typeof file === 'number') closeSync(file);
  const closed = once(child, 'close');
  const [output, errors] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
  ]);
  const [code] = (await closed) as [number | null];
  return { code, output, errors };
}

test('OPS-49 a process whose log goes to a full disk goes on, and ends in order', async () => {
  expect(await run('/dev/full')).toEqual({ code: 0, output: '', errors: 'goes on\n' });
});

test('every line is written before the process ends', async () => {
  const { code, output } = await run();
  expect(code).toBe(0);
  expect(output.trim().split('\n')).toHaveLength(21);
  expect(output).toContain('last line');
});
