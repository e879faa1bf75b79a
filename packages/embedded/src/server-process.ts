import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError } from './errors.js';

/** The end of a server process: by an exit code or by a signal. */
export interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ServerProcess {
  readonly pid: number;
  readonly exited: Promise<ServerExit>;
  stop(): Promise<void>;
}

interface LaunchOptions {
  readonly command: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
  readonly onLog: (line: string) => void;
}

/** The port that was asked for belongs to another process. */
export class PortTakenError extends EmbeddedPostgresError {}

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const READY = 'database system is ready to accept connections';

/** Starts the server and waits until it takes connections, recovery after a crash included. */
export async function launchServer({ command, settings, onLog }: LaunchOptions): Promise<ServerProcess> {
  const [program = '', ...args] = command;
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`);
  // A group of its own: Ctrl-C on the terminal must not stop the database before the services have drained.
  const child = spawn(program, args, { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise<ServerExit>((resolve, reject) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', reject);
  });
  const started = await waitUntilReady(child, exited, onLog).catch(async (error: unknown) => {
    if (child.pid !== undefined) child.kill('SIGQUIT');
    throw error;
  });
  if (started !== true) throw explainExit(started, settings);
  const pid = child.pid as number;
  return { pid, exited, stop: () => stopServer(child, exited) };
}

/** Returns true, or the last lines of the log when the server has ended instead. */
async function waitUntilReady(
  child: ChildProcess,
  exited: Promise<ServerExit>,
  onLog: (line: string) => void,
): Promise<true | string[]> {
  const lastLines: string[] = [];
  const log = createInterface({ input: child.stderr as NodeJS.ReadableStream });
  const ready = new Promise<true>((resolve) => {
    log.on('line', (line) => {
      onLog(line);
      lastLines.push(line);
      if (lastLines.length > 20) lastLines.shift();
      if (line.includes(READY)) resolve(true);
    });
  });
  const logEnd = new Promise((resolve) => log.once('close', resolve));
  const timer = new AbortController();
  const late = delay(START_TIMEOUT_MS, undefined, { signal: timer.signal }).then(() => {
    throw new EmbeddedPostgresError(`PostgreSQL was not ready after ${START_TIMEOUT_MS / 1000} s`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([ready, late, exited.then(() => logEnd).then(() => lastLines)]);
  } finally {
    timer.abort();
  }
}

function explainExit(lastLines: string[], settings: Readonly<Record<string, string>>): EmbeddedPostgresError {
  if (lastLines.some((line) => /could not bind .*: Address already in use/.test(line))) {
    const { listen_addresses: host, port } = settings;
    return new PortTakenError(`port ${port} on ${host} is taken by another process`);
  }
  const reason =
    lastLines.findLast((line) => /FATAL|PANIC|error/i.test(line)) ?? lastLines.at(-1) ?? 'no log';
  return new EmbeddedPostgresError(`PostgreSQL does not start: ${reason}`, { cause: lastLines.join('\n') });
}

async function stopServer(child: ChildProcess, exited: Promise<ServerExit>): Promise<void> {
  // SIGCONT: a suspended server could not act on the other. SIGQUIT leaves recovery to the next start.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    // False once the process has ended, because another process may have its pid by now.
    if (!child.kill(signal)) return void (await exited);
    child.kill('SIGCONT');
    const timer = new AbortController();
    const late = delay(STOP_TIMEOUT_MS, 'late', { signal: timer.signal }).catch(() => 'late');
    const winner = await Promise.race([exited, late]);
    timer.abort();
    if (winner !== 'late') return;
  }
}
