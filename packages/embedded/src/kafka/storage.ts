import { execFile } from 'node:child_process';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedServerError } from '../errors.js';

const run = promisify(execFile);

/** The parameters of a broker in a cluster. */
export interface KafkaCluster {
  readonly id: string;
  readonly controllerPort: number;
}

interface StorageOptions {
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  readonly cluster: KafkaCluster;
  /** 1 is the controller too; others join it. */
  readonly nodeId: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly accounts: Readonly<Record<string, string>>;
  /** `java` and its options, up to the main class. */
  readonly java: readonly string[];
}

/** Logs one line for the start, and warnings. */
const LOGGING = `status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %level %c{1} %m%n%throwable{short}
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
logger.server.name = kafka.server.KafkaRaftServer
logger.server.level = info
`;

/** Writes the broker's configuration, and formats its directory the first time. */
export async function prepareStorage(options: StorageOptions): Promise<{ config: string; logging: string }> {
  const { dataDir } = options;
  const config = join(dataDir, 'server.properties');
  const logging = join(dataDir, 'log4j2.properties');
  await mkdir(dataDir, { recursive: true });
  await writeFile(config, toProperties({ ...fixedSettings(options), ...options.settings }));
  await writeFile(logging, LOGGING);
  if (!(await isFormatted(dataDir))) {
    const [program = '', ...args] = options.java;
    // The equals sign is needed, because an id may begin with a hyphen.
    const format = ['kafka.tools.StorageTool', 'format', `--cluster-id=${options.cluster.id}`, '-c', config];
    const accounts = Object.entries(options.accounts).flatMap(([name, password]) => [
      '--add-scram',
      `SCRAM-SHA-512=[name=${name},password=${password}]`,
    ]);
    await run(program, [...args, ...format, ...accounts]).catch((cause: Error & { stderr?: string }) => {
      const reason = cause.stderr?.trim().split('\n')[0] || cause.message;
      throw new EmbeddedServerError(`Kafka can't format ${dataDir}: ${reason}`, { cause });
    });
  }
  return { config, logging };
}

function fixedSettings(options: StorageOptions): Record<string, string> {
  const { dataDir, host, port, nodeId } = options;
  const { controllerPort } = options.cluster;
  const isController = nodeId === 1;
  const listener = `PLAINTEXT://${host}:${port}`;
  return {
    'process.roles': isController ? 'broker,controller' : 'broker',
    'node.id': String(nodeId),
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: isController ? `${listener},CONTROLLER://127.0.0.1:${controllerPort}` : listener,
    'advertised.listeners': listener,
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': join(dataDir, 'logs'),
    // One broker cannot hold the three replicas of the defaults.
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    // A group with one member need not wait for others.
    'group.initial.rebalance.delay.ms': '0',
    'auto.create.topics.enable': 'false',
    // Files as large as their content: the defaults reserve 10 MB for each partition's indexes.
    'log.index.size.max.bytes': '262144',
    // The time after which a killed broker may return.
    'broker.heartbeat.interval.ms': '500',
    'broker.session.timeout.ms': '2000',
  };
}

const toProperties = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

async function isFormatted(dataDir: string): Promise<boolean> {
  return stat(join(dataDir, 'logs', 'meta.properties')).then(
    () => true,
    () => false,
  );
}
