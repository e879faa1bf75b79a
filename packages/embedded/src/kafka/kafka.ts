import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { launchChildServer } from '../child-server.js';
import { readCacheDir } from '../environment.js';
import { findFreePort } from '../free-port.js';
import { makeRestartable, type RestartableServer } from '../restartable-server.js';
import { assertJava, ensureKafkaJars } from './distribution.js';
import { type KafkaCluster, prepareStorage } from './storage.js';

/** Options of {@link startEmbeddedKafka}. */
export interface EmbeddedKafkaOptions {
  /** The directory is created and formatted when missing or empty. */
  readonly dataDir: string;
  /** Default: any free port. */
  readonly port?: number;
  /** The address to listen on and to advertise to clients. Default 127.0.0.1. */
  readonly host?: string;
  /** Adds a broker to the cluster of another, which must be running. */
  readonly join?: EmbeddedKafka;
  /** The broker's id, which must differ from those of the others; the first has 1. Default 1, or 2 with `join`. */
  readonly nodeId?: number;
  /** Default 384. */
  readonly heapMb?: number;
  /** Accounts that log in with SCRAM-SHA-512: name → password. They are made when the directory is formatted. */
  readonly accounts?: Readonly<Record<string, string>>;
  /** Broker settings, named as in Kafka's documentation. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Receives the broker's warnings and errors, line by line. */
  readonly onLog?: (line: string) => void;
  /** Whether to remove `dataDir` on `close`, or when this process dies first. */
  readonly isTemporary?: boolean;
  /** The directory for the downloaded jars. Default: the user's cache directory. */
  readonly cacheDir?: string;
}

/** A running broker: without security unless `settings` add it, with replication factor 1, without automatic topics. */
export interface EmbeddedKafka extends RestartableServer {
  /** The value for `KAFKA_BROKERS`. */
  readonly brokers: string;
  readonly cluster: KafkaCluster;
}

// For a test broker, the simple collector and compiler halve start time and memory.
const JVM = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto', '-Xms64m'];

/** Starts a real Apache Kafka (KRaft, broker and controller in one process) as a child process. */
export async function startEmbeddedKafka(options: EmbeddedKafkaOptions): Promise<EmbeddedKafka> {
  const dataDir = resolve(options.dataDir);
  const { host = '127.0.0.1', heapMb = 384, settings = {}, accounts = {} } = options;
  await assertJava();
  const libs = await ensureKafkaJars(options.cacheDir ?? readCacheDir());
  const port = options.port ?? (await findFreePort(host));
  const cluster = options.join?.cluster ?? (await newCluster());
  const nodeId = options.nodeId ?? (options.join ? 2 : 1);
  const java = ['java', ...JVM, `-Xmx${heapMb}m`, '-cp', join(libs, '*')];
  const { config, logging } = await prepareStorage({
    dataDir,
    host,
    port,
    cluster,
    nodeId,
    settings,
    accounts,
    java,
  });
  const temporaryDir = options.isTemporary ? dataDir : undefined;
  const server = await makeRestartable({
    port,
    temporaryDir,
    launch: () =>
      launchChildServer({
        name: 'Kafka',
        command: [...java, `-Dlog4j2.configurationFile=${logging}`, 'kafka.Kafka', config],
        ready: /Kafka Server started/,
        fault: /Exception: /,
        onLog: options.onLog ?? (() => undefined),
        temporaryDir,
      }),
  });
  return Object.assign(server, { brokers: `${host}:${port}`, cluster });
}

async function newCluster(): Promise<KafkaCluster> {
  return { id: randomBytes(16).toString('base64url'), controllerPort: await findFreePort() };
}
