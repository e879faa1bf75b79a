import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { LaunchError } from './launch-error.js';
import type { LogFile } from './log-file.js';
import type { Stoppable } from './teardown.js';

const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 50;
const STOP_TIMEOUT_MS = 20_000;
/** Exit code of a service whose database lacks a migration: `EXIT_CODE_NOT_MIGRATED` of service-kit. */
const NOT_MIGRATED_EXIT_CODE = 78;
/** The same setting as in the images: short-lived objects of requests fit, and the heap stays small. */
const SEMI_SPACE_MB = 8;

interface ProcessOptions {
  readonly name: string;
  /** Script and arguments for Node. */
  readonly args: readonly string[];
  /** Bound of the old space of V8, in MiB. */
  readonly heapMb: number;
  readonly env: NodeJS.ProcessEnv;
  readonly log: LogFile;
}

/** A service that runs as a child of the launcher. */
export interface ServiceProcess extends Stoppable {
  /** Resolves with how the process ended, for whatever reason. */
  readonly exited: Promise<string>;
  /**
   * Resolves when the service is ready, or has ended because its database lacks a migration.
   *
   * @throws LaunchError when it ends for another reason, or isn't ready in time.
   */
  waitUntilReady(baseUrl: string, signal: AbortSignal): Promise<'ready' | 'not migrated'>;
}

/**
 * Starts a service in a separate session, so that Ctrl-C on the terminal reaches the launcher alone and everything
 * ends in its turn. Over the IPC channel the service notices when the launcher is gone, and ends by itself.
 */
export function startService(options: ProcessOptions): ServiceProcess {
  const { name, log } = options;
  const child = spawnNode(options, true);
  const exited = describeExit(child);
  return {
    name,
    exited,
    waitUntilReady: async (baseUrl, signal) => {
      const wait = new AbortController();
      const ended = exited.then((how) => {
        if (child.exitCode === NOT_MIGRATED_EXIT_CODE) return 'not migrated' as const;
        throw new LaunchError(
          `${name} ${how} before it was ready. Its log (${log.path}) ends with:\n${log.tail()}`,
        );
      });
      try {
        return await Promise.race([
          ended,
          pollUntilReady(`${baseUrl}/health/ready`, AbortSignal.any([signal, wait.signal])),
        ]);
      } catch (error) {
        if (error instanceof LaunchError || signal.aborted) throw error;
        throw new LaunchError(
          `${name} was not ready after ${READY_TIMEOUT_MS / 1000} s. Its log ends with:\n${log.tail()}`,
        );
      } finally {
        wait.abort();
      }
    },
    stop: async () => {
      child.kill('SIGTERM');
      const timer = new AbortController();
      const late = delay(STOP_TIMEOUT_MS, 'late', { signal: timer.signal }).catch(() => undefined);
      if ((await Promise.race([exited, late])) === 'late') child.kill('SIGKILL');
      timer.abort();
      await exited;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Runs a command of a service to its end. */
export async function runCommand(options: ProcessOptions, signal: AbortSignal): Promise<void> {
  const { name, log } = options;
  const child = spawnNode(options, false);
  const end = () => child.kill('SIGTERM');
  signal.addEventListener('abort', end, { once: true });
  const how = await describeExit(child);
  signal.removeEventListener('abort', end);
  signal.throwIfAborted();
  if (child.exitCode !== 0) throw new LaunchError(`${name} ${how}:\n${log.tail()}`);
}

function spawnNode({ args, heapMb, env, log }: ProcessOptions, hasChannel: boolean): ChildProcess {
  const stdio = ['ignore', log.fd, log.fd, ...(hasChannel ? ['ipc' as const] : [])] satisfies StdioOptions;
  const flags = [`--max-old-space-size=${heapMb}`, `--max-semi-space-size=${SEMI_SPACE_MB}`];
  return spawn(process.execPath, [...flags, ...args], { env, detached: true, stdio });
}

async function describeExit(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
  } catch (error) {
    return `could not be started (${(error as Error).message})`;
  }
}

async function pollUntilReady(url: string, signal: AbortSignal): Promise<'ready'> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(READY_TIMEOUT_MS)]);
  for (;;) {
    const response = await fetch(url, { signal: deadline }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return 'ready';
    await delay(READY_POLL_MS, undefined, { signal: deadline });
  }
}
