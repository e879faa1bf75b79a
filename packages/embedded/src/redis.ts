import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { launchChildServer } from './child-server.js';
import { EmbeddedServerError } from './errors.js';
import { findProgram } from './find-program.js';
import { findFreePort } from './free-port.js';
import { makeRestartable, type RestartableServer } from './restartable-server.js';

/** Options of {@link startEmbeddedRedis}. */
export interface EmbeddedRedisOptions {
  /** Created when missing. It contains the append-only file. */
  readonly dataDir: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Whether to write each command to the append-only file, so that data survives a restart. Default true. */
  readonly isDurable?: boolean;
  /** Whether to remove `dataDir` on `close`, or when this process dies first. */
  readonly isTemporary?: boolean;
  /** Makes it a Sentinel, which watches this server and its replicas under the name `main`. */
  readonly sentinelOf?: Pick<EmbeddedRedis, 'port'>;
  readonly onLog?: (line: string) => void;
}

export interface EmbeddedRedis extends RestartableServer {
  /** The value for `REDIS_URL`. */
  readonly url: string;
  /** Deletes all data, as an operator might by mistake. */
  flush(): Promise<void>;
  /** Sends one command, such as `REPLICAOF NO ONE`. @returns the reply as Redis writes it. */
  command(text: string): Promise<string>;
}

const HOST = '127.0.0.1';
/** BullMQ's recommended minimum. */
const MIN_VERSION = [6, 2] as const;

async function isRecent(program: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)(program, ['--version']).catch(() => ({ stdout: '' }));
  const [, major = 0, minor = 0] = (/ v=(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
  return major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]);
}

/** Returns the Redis or Valkey server on the PATH. @throws EmbeddedServerError when there is none, or an old one. */
export async function findRedisServer(): Promise<string> {
  for (const name of ['redis-server', 'valkey-server']) {
    const program = findProgram(name);
    if (program !== undefined && (await isRecent(program))) return program;
  }
  throw new EmbeddedServerError(
    `there is no redis-server or valkey-server ${MIN_VERSION.join('.')} or newer on the PATH: install one`,
  );
}

/** Starts the Redis or Valkey on the PATH as a child process. It listens on loopback only. */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const dataDir = resolve(options.dataDir);
  const program = await findRedisServer();
  await mkdir(dataDir, { recursive: true });
  const port = options.port ?? (await findFreePort(HOST));
  const temporaryDir = options.isTemporary ? dataDir : undefined;
  const configuration = join(dataDir, 'redis.conf');
  await writeFile(configuration, toConfiguration(options, port));
  const server = await makeRestartable({
    port,
    temporaryDir,
    launch: () =>
      launchChildServer({
        name: 'Redis',
        command: [
          program,
          configuration,
          '--dir',
          dataDir,
          ...(options.sentinelOf === undefined ? [] : ['--sentinel']),
        ],
        ready: /Ready to accept connections|\+monitor master/,
        fault: /Could not|Can't|error|fatal/i,
        onLog: options.onLog ?? (() => undefined),
        temporaryDir,
      }),
  });
  const command = (text: string) => sendCommand(port, text);
  const flush = async () => {
    const reply = await command('FLUSHALL');
    if (reply !== '+OK') throw new EmbeddedServerError(`Redis answered ${reply}`);
  };
  return Object.assign(server, { url: `redis://${HOST}:${port}`, command, flush });
}

function toConfiguration({ isDurable = true, sentinelOf }: EmbeddedRedisOptions, port: number): string {
  const listen = [`bind ${HOST}`, `port ${port}`];
  if (sentinelOf !== undefined)
    return [
      ...listen,
      `sentinel monitor main ${HOST} ${sentinelOf.port} 1`,
      'sentinel down-after-milliseconds main 1000',
      '',
    ].join('\n');
  return [
    ...listen,
    `appendonly ${isDurable ? 'yes' : 'no'}`,
    'save ""',
    // BullMQ loses jobs where keys are evicted, and warns about any other policy.
    'maxmemory-policy noeviction',
    '',
  ].join('\n');
}

/** One command needs no client: Redis accepts a line of text, and a short reply comes at once. */
const sendCommand = (port: number, text: string): Promise<string> =>
  new Promise((resolvePromise, reject) => {
    const socket = connect(port, HOST, () => socket.write(`${text}\r\n`));
    socket.setEncoding('utf8').once('data', (data: string) => {
      socket.destroy();
      resolvePromise(data.trim());
    });
    socket.once('error', reject);
  });
