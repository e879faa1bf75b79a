import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findFreePort, listDescendants } from '@platform/embedded';

const ROOT = resolve(import.meta.dirname, '../../..');
const READY = 'Stop with Ctrl-C';

/** A launcher in a separate process, as a user would start it. */
export interface Platform {
  readonly child: ChildProcess;
  readonly port: number;
  readonly inboxPort: number;
  readonly dataDir: string;
  /** Returns its output so far, both streams. */
  output(): string;
  /** Resolves when it is ready or has ended, whichever comes first. */
  readonly settled: Promise<void>;
  /** Resolves with the exit code once its pipes are closed, too. */
  readonly exited: Promise<number | null>;
  /** Returns the pids of all processes below it: PostgreSQL and its processes, services. */
  descendants(): Promise<number[]>;
}

/** Settings of the machine that runs the tests must not affect the platform. */
const cleanEnvironment = (): NodeJS.ProcessEnv => {
  const {
    DATABASE_URL: _url,
    DATA_DIR: _dir,
    PORT: _port,
    HOST: _host,
    LOG_LEVEL: _level,
    REDIS_URL: _redis,
    KAFKA_BROKERS: _brokers,
    SMTP_CATCHER_PORT: _smtp,
    INBOX_PORT: _inbox,
    ...rest
  } = process.env;
  // A database is slow on a busy machine.
  return { ...rest, NODE_OPTIONS: '', DATABASE_TIMEOUT_MS: '5000', IDENTITY_TIMEOUT_MS: '5000' };
};

interface StartOptions {
  readonly dataDir: string;
  readonly port?: number;
  readonly inboxPort?: number;
  readonly args?: readonly string[];
  /** Whether the demo runs, too. */
  readonly hasDemo?: boolean;
  readonly env?: NodeJS.ProcessEnv;
  /** Whether to start it through npm, which is then between the terminal and the launcher. */
  readonly isThroughNpm?: boolean;
}

export async function startPlatform({
  dataDir,
  args = [],
  isThroughNpm,
  hasDemo = false,
  env = {},
  ...rest
}: StartOptions): Promise<Platform> {
  const port = rest.port ?? (await findFreePort());
  const inboxPort = rest.inboxPort ?? (await findFreePort());
  const ports = { port, 'inbox-port': inboxPort, 'smtp-catcher-port': await findFreePort() };
  const flags = Object.entries(ports).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const options = [...flags, '--data-dir', dataDir, ...(hasDemo ? [] : ['--no-demo']), ...args];
  const [command, ...before] = isThroughNpm
    ? ['npm', 'start', '--']
    : [process.execPath, 'packages/local/start.mjs'];
  const child = spawn(command, [...before, ...options], {
    cwd: ROOT,
    env: { ...cleanEnvironment(), ...env },
  });
  let output = '';
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const ready = new Promise<void>((done) => {
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes(READY)) done();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
  });
  const settled = Promise.race([ready, exited.then(() => undefined)]);
  const pid = child.pid as number;
  return {
    child,
    port,
    inboxPort,
    dataDir,
    output: () => output,
    settled,
    exited,
    descendants: () => listDescendants(pid),
  };
}

/** Returns the text that the launcher printed beside a label when it was ready. */
export const printed = (platform: Platform, label: string): string =>
  new RegExp(`^  ${label} +(.+)$`, 'm').exec(platform.output())?.[1] ?? '';

/** Returns the pids of those processes that still run. */
export const living = (pids: readonly number[]): number[] =>
  pids.filter((pid) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  });

/** Creates a folder for the data of one platform. */
export async function makeDataDir(): Promise<{ path: string; remove(): Promise<void> }> {
  const parent = await mkdtemp(join(tmpdir(), 'platform-test-'));
  return { path: join(parent, 'data'), remove: () => rm(parent, { recursive: true, force: true }) };
}

/** Waits until a condition holds; the test's own timeout is the limit. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`never happened: ${condition.toString()}`);
    await new Promise((next) => setTimeout(next, 20));
  }
}
