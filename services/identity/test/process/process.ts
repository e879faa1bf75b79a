import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { waitFor } from '@platform/testing';
import { admin, encryptionKeys, PATIENT } from '../identity.js';

// Tests of the process run the built service, because Jest can't transform another process.
const dist = join(import.meta.dirname, '../../dist');

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Process {
  readonly child: ChildProcess;
  readonly exit: Promise<Exit>;
  stdout(): string;
}

export const environmentFor = (databaseUrl: string): NodeJS.ProcessEnv => ({
  DATABASE_URL: databaseUrl,
  ENCRYPTION_KEYS: encryptionKeys,
  HOST: '127.0.0.1',
  PORT: '0',
  BOOTSTRAP_ADMIN_EMAIL: admin.email,
  BOOTSTRAP_ADMIN_PASSWORD: admin.password,
  ...PATIENT,
});

/** Starts a program of the service with exactly this environment. */
export function run(
  program: 'server.js' | 'cli.js',
  env: NodeJS.ProcessEnv,
  args: readonly string[] = [],
): Process {
  const child = spawn(process.execPath, [join(dist, program), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const exit = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    stdout,
    stderr,
  }));
  return { child, exit, stdout: () => stdout };
}

export interface Server extends Process {
  readonly url: string;
}

/** Starts the service, and waits until it logs that it is ready. */
export async function startServer(env: NodeJS.ProcessEnv): Promise<Server> {
  const started = run('server.js', env);
  const port = await waitFor(
    () => {
      if (started.child.exitCode !== null) throw new Error('the service has ended');
      return /"port":(\d+).*identity is ready/.exec(started.stdout())?.[1];
    },
    { what: 'the start of the service' },
  );
  return { ...started, url: `http://127.0.0.1:${port}` };
}
