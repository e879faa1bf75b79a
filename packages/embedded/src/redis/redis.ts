import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { launchChildServer } from '../child-server.js';
import { EmbeddedServerError } from '../errors.js';
import { findFreePort } from '../free-port.js';
import { makeRestartable, type RestartableServer } from '../restartable-server.js';
import { ensureRedisServer, readDataFormat } from './distribution.js';

/** Options of {@link startEmbeddedRedis}. */
export interface EmbeddedRedisOptions {
  /**
   * Created when missing. It contains a folder for each kind and major version of the server, with its append-only
   * file.
   */
  readonly dataDir: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Whether to write each command to the append-only file, so that data survives a restart. Default true. */
  readonly isDurable?: boolean;
  /** Whether to remove `dataDir` on `close`, or when this process dies first. */
  readonly isTemporary?: boolean;
  /** The password of clients, letters and digits only. Default: none. */
  readonly password?: string;
  readonly onLog?: (line: string) => void;
  /** The directory for the downloaded Valkey. Default: the user's cache directory. */
  readonly cacheDir?: string;
}

export interface EmbeddedRedis extends RestartableServer {
  /** The value for `REDIS_URL`. */
  readonly url: string;
  /** Deletes all data, as an operator might by mistake. */
  flush(): Promise<void>;
}

const HOST = '127.0.0.1';

/**
 * Starts Redis, or Valkey, as a child process: see {@link ensureRedisServer}. It listens on loopback only.
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const dataDir = resolve(options.dataDir);
  const program = await ensureRedisServer(options.cacheDir);
  // The server on the PATH may be another one at the next start, which could not read this one's data.
  const serverDir = join(dataDir, await readDataFormat(program));
  await mkdir(serverDir, { recursive: true });
  const port = options.port ?? (await findFreePort(HOST));
  const temporaryDir = options.isTemporary ? dataDir : undefined;
  const configuration = join(dataDir, 'redis.conf');
  // A file is used because every user of the machine can read a command line.
  await writeFile(configuration, toConfiguration(options, port), { mode: 0o600 });
  const server = await makeRestartable({
    port,
    temporaryDir,
    launch: () =>
      launchChildServer({
        name: 'Redis',
        command: [program, configuration, '--dir', serverDir],
        ready: /Ready to accept connections/,
        fault: /Could not|Can't|error|fatal/i,
        onLog: options.onLog ?? (() => undefined),
        temporaryDir,
      }),
  });
  const { password } = options;
  const login = password === undefined ? [] : [`AUTH ${password}`];
  return Object.assign(server, {
    url: `redis://${password === undefined ? '' : `:${password}@`}${HOST}:${port}`,
    flush: () => send(port, [...login, 'FLUSHALL']),
  });
}

function toConfiguration({ isDurable = true, password }: EmbeddedRedisOptions, port: number): string {
  return [
    `bind ${HOST}`,
    `port ${port}`,
    `appendonly ${isDurable ? 'yes' : 'no'}`,
    'save ""',
    // BullMQ loses jobs where keys are evicted, and warns about any other policy.
    'maxmemory-policy noeviction',
    ...(password === undefined ? [] : [`requirepass ${password}`]),
    '',
  ].join('\n');
}

// A few commands need no client: Redis accepts lines of text and answers each with a line.
async function send(port: number, lines: readonly string[]): Promise<void> {
  const replies = await new Promise<string[]>((resolvePromise, reject) => {
    let received = '';
    const socket = connect(port, HOST, () => socket.write(lines.map((line) => `${line}\r\n`).join('')));
    socket.setEncoding('utf8').on('data', (data: string) => {
      received += data;
      const complete = received.split('\r\n').slice(0, -1);
      if (complete.length < lines.length) return;
      socket.destroy();
      resolvePromise(complete);
    });
    socket.once('error', reject);
  });
  const refusal = replies.find((reply) => !reply.startsWith('+OK'));
  if (refusal !== undefined) throw new EmbeddedServerError(`Redis answered ${refusal}`);
}
