import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { findBinaries } from './binaries.js';
import { launchChildServer, type ServerExit } from './child-server.js';
import { ensureCluster, SUPERUSER } from './cluster.js';
import { EmbeddedServerError, PortTakenError } from './errors.js';
import { findFreePort } from './free-port.js';
import { recordOwner, stopPreviousRun } from './previous-run.js';
import { chooseRunner } from './unprivileged.js';

/** Options of {@link startEmbeddedPostgres}. */
export interface EmbeddedPostgresOptions {
  /** The directory is created and initialised when missing or empty. */
  readonly dataDir: string;
  /** Default: any free port. */
  readonly port?: number;
  /** The address to listen on; only loopback addresses may log in. Default 127.0.0.1. */
  readonly host?: string;
  /** Server settings; `fsync: 'off'` also skips the syncs of the initialisation. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Receives the server's log, line by line. */
  readonly onLog?: (line: string) => void;
  /** Whether to remove `dataDir` once the server has stopped, or when this process dies first. */
  readonly isTemporary?: boolean;
}

/** A running server, owned by this process. */
export interface EmbeddedPostgres {
  /** Returns the connection URL of the superuser, password included. Default database `postgres`. */
  url(database?: string): string;
  readonly port: number;
  readonly pid: number;
  /** Settles when the server has ended, for whatever reason. */
  readonly exited: Promise<ServerExit>;
  /** Stops the server with a fast shutdown, which rolls back open transactions. Can be called again. */
  stop(): Promise<void>;
}

const PORT_ATTEMPTS = 5;

/** Starts a real PostgreSQL as a child process, in a separate process group. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  const { host = '127.0.0.1', settings = {} } = options;
  const { initdb, postgres } = findBinaries();
  await stopPreviousRun(dataDir);
  const runner = await chooseRunner(dataDir);
  const isDurable = settings['fsync'] !== 'off';
  const password = await ensureCluster({ dataDir, initdb, runner, isDurable });
  await recordOwner(dataDir);

  const temporaryDir = options.isTemporary ? dataDir : undefined;
  const { server, port } = await onFreePort(options.port, host, (candidate) =>
    launchChildServer({
      name: 'PostgreSQL',
      command: [
        ...runner.prefix,
        postgres,
        '-D',
        dataDir,
        ...Object.entries({ ...fixedSettings(host, candidate), ...settings }).flatMap(([name, value]) => [
          '-c',
          `${name}=${value}`,
        ]),
      ],
      ready: /database system is ready to accept (?:read-only )?connections/,
      fault: /Address already in use|FATAL|PANIC/,
      onLog: options.onLog ?? (() => undefined),
      temporaryDir,
      postgresDir: dataDir,
      // A fast shutdown, then an immediate one, which leaves recovery to the next start.
      stopSignals: ['SIGINT', 'SIGQUIT', 'SIGKILL'],
    }),
  );
  const cleaned = server.exited.then(async () => {
    if (temporaryDir !== undefined) await rm(temporaryDir, { recursive: true, force: true });
  });
  return {
    url: (database = 'postgres') => `postgresql://${SUPERUSER}:${password}@${host}:${port}/${database}`,
    port,
    pid: server.pid,
    exited: server.exited,
    stop: async () => {
      await server.stop();
      await cleaned;
    },
  };
}

function fixedSettings(host: string, port: number): Record<string, string> {
  return {
    port: String(port),
    listen_addresses: host,
    // TCP only: a socket's path must be short, and lies in a directory that others may write to.
    unix_socket_directories: '',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // The start is recognised by a line of the log.
    lc_messages: 'C',
    logging_collector: 'off',
  };
}

const isPortTaken = (error: unknown): boolean =>
  error instanceof EmbeddedServerError && error.message.includes('Address already in use');

// A free port can be taken before the server starts, so another one is tried; a requested port is not replaced.
async function onFreePort<Server>(
  wanted: number | undefined,
  host: string,
  launch: (port: number) => Promise<Server>,
): Promise<{ server: Server; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = wanted ?? (await findFreePort(host));
    try {
      return { server: await launch(port), port };
    } catch (error) {
      if (!isPortTaken(error)) throw error;
      if (wanted !== undefined || attempt === PORT_ATTEMPTS)
        throw new PortTakenError(`port ${port} on ${host} is taken by another process`, { cause: error });
    }
  }
}
