import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type EmbeddedPostgres,
  findFreePort,
  listChildren,
  sendSignal,
  startEmbeddedPostgres,
} from '@platform/embedded';
import { makeTemporaryDir } from './temporary-dir.js';

/** A server that one test may break; its port and its data stay the same until it is closed. */
export interface OwnPostgres {
  url(database?: string): string;
  readonly port: number;
  /** Starts it again after `stop` or `kill`. */
  start(): Promise<void>;
  /** Stops it, and starts it as a standby, which answers reads and takes no writes, until `select pg_promote()`. */
  demote(): Promise<void>;
  /** Stops the server with a fast shutdown: connections are closed and new ones refused. */
  stop(): Promise<void>;
  /** Kills all of its processes with SIGKILL; the next start recovers committed data. */
  kill(): Promise<void>;
  /** Suspends every process of it: connections stay open and new ones are accepted, but nothing answers. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

/** Starts an embedded PostgreSQL for tests of faults, which must not break a given or shared server. */
export async function startOwnPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<OwnPostgres> {
  const root = await makeTemporaryDir('platform-own-postgres-');
  const dataDir = join(root, 'data');
  const port = await findFreePort();
  const launch = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({ dataDir, port, settings: { fsync: 'off', ...settings } });
  let server = await launch();
  return {
    url: (database) => server.url(database),
    port,
    start: async () => void (server = await launch()),
    stop: () => server.stop(),
    demote: async () => {
      await server.stop();
      await writeFile(join(dataDir, 'standby.signal'), '');
      server = await launch();
    },
    kill: async () => {
      const children = await listChildren(server.pid);
      for (const pid of [server.pid, ...children]) sendSignal(pid, 'SIGKILL');
      await server.exited;
    },
    pause: async () => {
      // The parent is stopped first, so that it cannot start another child in the meantime.
      sendSignal(server.pid, 'SIGSTOP');
      for (const pid of await listChildren(server.pid)) sendSignal(pid, 'SIGSTOP');
    },
    resume: () => resumeAll(server.pid),
    close: async () => {
      await resumeAll(server.pid);
      await server.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function resumeAll(pid: number): Promise<void> {
  for (const child of await listChildren(pid)) sendSignal(child, 'SIGCONT');
  sendSignal(pid, 'SIGCONT');
}
