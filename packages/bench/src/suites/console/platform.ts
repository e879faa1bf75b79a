import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@platform/embedded';

const ROOT = fileURLToPath(new URL('../../../../..', import.meta.url));
export const PASSWORD = 'correct-horse-battery';

/** Starts the platform as `npm start` does, with an empty organisation. */
export async function startPlatform(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-console-'));
  const port = await findFreePort();
  const options = {
    port,
    'inbox-port': await findFreePort(),
    'smtp-catcher-port': await findFreePort(),
    'data-dir': join(folder, 'data'),
    'admin-password': PASSWORD,
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(process.execPath, ['packages/local/start.mjs', ...flags], { cwd: ROOT });
  const exited = once(child, 'close');
  let output = '';
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('Stop with Ctrl-C')) resolve();
      });
  });
  await Promise.race([ready, exited]);
  if (child.exitCode !== null) throw new Error(`the platform did not start:\n${output}`);
  return {
    url: `http://localhost:${port}`,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
