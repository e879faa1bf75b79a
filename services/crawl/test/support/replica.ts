import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@platform/embedded';
import { createLogger, createShutdown, systemClock } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { buildCrawl } from '../../src/app.js';
import { loadCrawlConfig } from '../../src/config.js';
import { openResources } from '../../src/resources.js';

type Environment = Readonly<Record<string, string>>;

const toPath = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));

/** A crawl that listens. */
export interface Replica {
  readonly url: string;
  /** Returns everything that it has logged. */
  logged(): string;
  /** Sets its clock ahead of the real one. */
  setClock(aheadMs: number): Promise<void>;
  /** Shuts it down. */
  stop(): Promise<unknown>;
}

/** A crawl as it is deployed: the built program in a separate process. */
export interface ReplicaProcess extends Replica {
  signal(signal: NodeJS.Signals): void;
  /** Sends SIGKILL, which ends the process without a shutdown. */
  kill(): Promise<void>;
}

export const isReady = async ({ url }: Pick<Replica, 'url'>): Promise<boolean> =>
  (await fetch(`${url}/health/ready`)).ok;

/** Starts crawl in this thread. It does not wait until it is ready. */
export async function startReplica(env: Environment): Promise<Replica> {
  let logged = '';
  let aheadMs = 0;
  const config = loadCrawlConfig(env);
  const log = createLogger('crawl', config.LOG_LEVEL, {
    write: (line) => {
      logged += line;
    },
  });
  const shutdown = createShutdown(log);
  const resources = openResources({
    databaseUrl: config.DATABASE_URL,
    maxConnections: config.DATABASE_CONNECTIONS_MAX,
    timeoutMs: config.DATABASE_TIMEOUT_MS,
    log,
    shutdown,
  });
  const clock = () => systemClock() + aheadMs;
  const { app } = await buildCrawl({ config, resources, shutdown, clock });
  shutdown.on('http', 'listener', () => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    logged: () => logged,
    setClock(ahead) {
      aheadMs = ahead;
      return Promise.resolve();
    },
    stop: () => shutdown.run('the test stops it'),
  };
}

/** Starts crawl as a process, and waits until it is ready. With `CLOCK_AHEAD_MS` its wall clock can be set. */
export async function startReplicaProcess(env: Environment): Promise<ReplicaProcess> {
  const port = await findFreePort();
  const program = toPath('dist/server.js');
  const isClockMovable = env['CLOCK_AHEAD_MS'] !== undefined;
  const args = isClockMovable ? ['--import', toPath('test/fixtures/movable-clock.mjs'), program] : [program];
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
  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
    return child.exitCode;
  }
  const url = `http://127.0.0.1:${port}`;
  const waitUntilReady = () => {
    if (child.exitCode !== null) throw new Error(logged);
    return isReady({ url });
  };
  await waitFor(waitUntilReady, { what: 'readiness' }).catch(async (error: unknown) => {
    await end('SIGKILL');
    throw new Error(`${String(error)}\n${logged}`, { cause: error });
  });
  return {
    url,
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
