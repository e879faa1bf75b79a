import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedServerError } from './errors.js';
import { guardServer } from './guard.js';

/** The end of a server process: by an exit code or by a signal. */
export interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Describes how to start a server that logs to stdout, to recognise that it is ready, and to explain a failed start. */
export interface ChildServerOptions {
  /** The server's name in messages, such as "Kafka". */
  readonly name: string;
  readonly command: readonly string[];
  /** Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Matches the log line which says that the server accepts connections. */
  readonly ready: RegExp;
  /** Matches the log line that explains a failed start; the first such line counts, because later ones follow from it. */
  readonly fault: RegExp;
  readonly onLog: (line: string) => void;
  /** Default: a minute. */
  readonly startTimeoutMs?: number;
  /** Removed when the server is ended because this process died. */
  readonly temporaryDir: string | undefined;
  /** The data directory of PostgreSQL, which the guard stops in an orderly way; see {@link guardServer}. */
  readonly postgresDir?: string;
  /** Sent one after the other until the server ends. Default: SIGTERM, SIGKILL. */
  readonly stopSignals?: readonly NodeJS.Signals[];
}

export interface ChildServer {
  readonly pid: number;
  readonly exited: Promise<ServerExit>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 15_000;
const STOP_SIGNALS = ['SIGTERM', 'SIGKILL'] as const;
const LINES_KEPT = 100;

/**
 * Starts a server and waits until it accepts connections. It gets a separate process group, because Ctrl-C on the terminal
 * must not stop it before those who use it.
 *
 * @throws EmbeddedServerError with the line of its log that explains why it does not start, and the log as the cause.
 */
export async function launchChildServer(options: ChildServerOptions): Promise<ChildServer> {
  const { temporaryDir, postgresDir, stopSignals = STOP_SIGNALS } = options;
  const [program = '', ...args] = options.command;
  const environment = options.env && { env: options.env };
  const child = spawn(program, args, {
    ...environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<ServerExit>((resolve, reject) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', reject);
  });
  const callOffGuard = guardServer({
    pid: child.pid,
    temporaryDir,
    ...(postgresDir !== undefined && { postgresDir }),
  });
  exited.then(callOffGuard, callOffGuard);
  try {
    await waitUntilReady(child, exited, options);
  } catch (error) {
    child.kill(stopSignals.at(-2) ?? 'SIGKILL');
    throw error;
  }
  return {
    pid: child.pid as number,
    exited,
    stop: () => stopChild(child, exited, stopSignals),
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function waitUntilReady(
  child: ChildProcess,
  exited: Promise<ServerExit>,
  options: ChildServerOptions,
): Promise<void> {
  const lines: string[] = [];
  const isReady = new Promise<true>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream as NodeJS.ReadableStream }).on('line', (line) => {
        options.onLog(line);
        if (lines.push(line) > LINES_KEPT) lines.shift();
        if (options.ready.test(line)) resolve(true);
      });
  });
  const timer = new AbortController();
  const { startTimeoutMs = START_TIMEOUT_MS } = options;
  const late = delay(startTimeoutMs, 'late', { signal: timer.signal }).catch(() => 'late');
  // The log may end after the process, and its last lines explain the exit.
  const ended = new Promise((resolve) => child.once('close', resolve)).then(() => exited);
  const first = await Promise.race([isReady, late, ended, exited.then(() => ended)]);
  timer.abort();
  if (first === true) return;
  const reason = lines.find((line) => options.fault.test(line)) ?? lines.at(-1) ?? 'no log';
  const what = first === 'late' ? `is not ready after ${startTimeoutMs / 1000} s` : 'does not start';
  throw new EmbeddedServerError(`${options.name} ${what}: ${reason.trim()}`, { cause: lines.join('\n') });
}

async function stopChild(
  child: ChildProcess,
  exited: Promise<ServerExit>,
  signals: readonly NodeJS.Signals[],
): Promise<void> {
  for (const signal of signals) {
    // False once the process has ended, because another process may have its pid by now.
    if (!child.kill(signal)) return void (await exited);
    // A suspended server could not act on it.
    child.kill('SIGCONT');
    const timer = new AbortController();
    const late = delay(STOP_TIMEOUT_MS, 'late', { signal: timer.signal }).catch(() => 'late');
    const first = await Promise.race([exited, late]);
    timer.abort();
    if (first !== 'late') return;
  }
}
