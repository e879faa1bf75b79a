import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Server {
  stop(): unknown;
}

/** The servers, data and options that a measurement works with. */
export interface Fixture {
  /** A temporary folder. */
  readonly folder: string;
  /** The duration of each load, in seconds. */
  readonly seconds: number;
  /** Whether the measurement was named with `--only`. */
  readonly isNamed: boolean;
  /** Whether it has the largest size. */
  readonly isFull: boolean;
  /** Settings of PostgreSQL beside those of every suite. */
  readonly postgresSettings: Readonly<Record<string, string>>;
  progress(line: string): void;
  /** Stops the server after the measurement. @returns the server. */
  keep<T extends Server>(server: T): T;
  /** Starts something at its first use. All measurements of the suite share it, and it is stopped after the last one. */
  share<T>(start: (fixture: Fixture) => Promise<T>): Promise<T>;
}

type Options = Pick<Fixture, 'seconds' | 'isNamed' | 'isFull' | 'postgresSettings' | 'progress'>;

export interface SuiteFixture {
  /** Calls `use` with a new fixture, and stops what it has started. */
  run<T>(options: Options, use: (fixture: Fixture) => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

/** Collects servers, to stop them in reverse order. */
function createScope() {
  const servers: Server[] = [];
  return {
    keep<T extends Server>(server: T): T {
      servers.push(server);
      return server;
    },
    async stop() {
      for (const server of servers.splice(0).toReversed()) await server.stop();
    },
  };
}

export async function openFixture(): Promise<SuiteFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-bench-'));
  const suite = createScope();
  const shared = new Map<unknown, Promise<unknown>>();
  const toFixture = (options: Options, keep: Fixture['keep']): Fixture => ({
    ...options,
    folder,
    keep,
    share<T>(start: (fixture: Fixture) => Promise<T>): Promise<T> {
      const started = shared.get(start) ?? start(toFixture(options, suite.keep));
      shared.set(start, started);
      return started as Promise<T>;
    },
  });
  return {
    async run(options, use) {
      const own = createScope();
      try {
        return await use(toFixture(options, own.keep));
      } finally {
        await own.stop();
      }
    },
    async stop() {
      await suite.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
