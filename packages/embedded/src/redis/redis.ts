import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { launchChildServer } from '../child-server.js';
import { EmbeddedServerError } from '../errors.js';
import { findFreePort } from '../free-port.js';
import { makeRestartable, type RestartableServer } from '../restartable-server.js';

const run = promisify(execFile);

/** Options of {@link startEmbeddedRedis}. */
export interface EmbeddedRedisOptions {
  /** Made when missing; holds the append-only file. */
  readonly dataDir: string;
  /** A free one is chosen when it is not given. */
  readonly port?: number;
  /** Write each command to the append-only file, so that data survives a restart. Default true. */
  readonly isDurable?: boolean;
  /** Remove `dataDir` on `close`, also when this process dies first. */
  readonly isTemporary?: boolean;
  readonly onLog?: (line: string) => void;
}

export interface EmbeddedRedis extends RestartableServer {
  /** For `REDIS_URL`. */
  readonly url: string;
  /** Loses everything, as an operator's mistake would. */
  flush(): Promise<void>;
}

const HOST = '127.0.0.1';

/** Starts the `redis-server` of the PATH as a child process. It listens on loopback only, without a password. */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const dataDir = resolve(options.dataDir);
  await run('redis-server', ['--version']).catch((cause: unknown) => {
    throw new EmbeddedServerError('there is no redis-server on the PATH; install one, or give REDIS_URL', {
      cause,
    });
  });
  await mkdir(dataDir, { recursive: true });
  const port = options.port ?? (await findFreePort(HOST));
  const temporaryDir = options.isTemporary ? dataDir : undefined;
  const durability = ['--appendonly', options.isDurable === false ? 'no' : 'yes', '--save', ''];
  // BullMQ loses jobs where keys are evicted, and warns about any other policy.
  const fixed = [
    '--bind',
    HOST,
    '--port',
    String(port),
    '--dir',
    dataDir,
    '--maxmemory-policy',
    'noeviction',
  ];
  const server = await makeRestartable({
    port,
    temporaryDir,
    launch: () =>
      launchChildServer({
        name: 'Redis',
        command: ['redis-server', ...fixed, ...durability],
        ready: /Ready to accept connections/,
        fault: /Could not|Can't|error|fatal/i,
        onLog: options.onLog ?? (() => undefined),
        temporaryDir,
      }),
  });
  return Object.assign(server, { url: `redis://${HOST}:${port}`, flush: () => command(port, 'FLUSHALL') });
}

// One command needs no client: Redis takes a line of text and answers with one.
async function command(port: number, line: string): Promise<void> {
  const answer = await new Promise<string>((resolvePromise, reject) => {
    const socket = connect(port, HOST, () => socket.write(`${line}\r\n`));
    socket.setEncoding('utf8').once('data', (data) => {
      socket.destroy();
      resolvePromise(String(data));
    });
    socket.once('error', reject);
  });
  if (!answer.startsWith('+OK')) throw new EmbeddedServerError(`Redis answered ${answer.trim()}`);
}
