import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@platform/embedded';
import { waitFor } from '@platform/testing';

/** A service of the platform as it is deployed: the built program in a process of its own. */
export interface ServiceProcess {
  readonly url: string;
  readonly pid: number;
  /** Returns everything that the service has logged. */
  logged(): string;
  /** Sets its wall clock and resolves when it is set. It requires `CLOCK_AHEAD_MS` at the start. */
  setClock(aheadMs: number): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Sends SIGKILL, which ends the process without a shutdown. */
  kill(): Promise<void>;
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>;
}

export interface ServiceOptions {
  /** The path of `dist/server.js`. */
  readonly program: string;
  /** With `CLOCK_AHEAD_MS` the wall clock is ahead by that and can be set. */
  readonly env: Record<string, string>;
  readonly isReadyAwaited?: boolean;
}

const movableClock = fileURLToPath(new URL('../fixtures/movable-clock.mjs', import.meta.url));

export async function startService({
  program,
  env,
  isReadyAwaited = true,
}: ServiceOptions): Promise<ServiceProcess> {
  const port = await findFreePort();
  const isClockMovable = env['CLOCK_AHEAD_MS'] !== undefined;
  const args = isClockMovable ? ['--import', movableClock, program] : [program];
  const child: ChildProcess = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: String(port), ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(isClockMovable ? (['ipc'] as const) : [])],
  });
  const exited = once(child, 'exit');
  let logged = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      logged += text;
    });
  const url = `http://127.0.0.1:${port}`;
  if (isReadyAwaited)
    await waitFor(
      async () => {
        if (child.exitCode !== null) throw new Error(logged);
        return (await fetch(`${url}/health/ready`)).ok;
      },
      { what: `readiness of ${program}` },
    ).catch((error: unknown) => {
      child.kill('SIGKILL');
      throw new Error(`${String(error)}\n${logged}`, { cause: error });
    });
  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
    return child.exitCode;
  }
  return {
    url,
    pid: child.pid ?? 0,
    logged: () => logged,
    async setClock(aheadMs) {
      const moved = once(child, 'message');
      child.send(aheadMs);
      await moved;
    },
    signal: (signal) => void child.kill(signal),
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}
