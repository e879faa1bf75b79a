import { ConfigError, type Logger } from '@platform/service-kit';
import { Redis, type RedisOptions } from 'ioredis';

/*
 * The connections to Redis. Only a master takes writes. After a failover, the server that was the master may answer as a
 * replica on a connection that stays open, and a name may lead to it for a moment. So a connection starts over when a write is
 * refused with READONLY, and when it begins at a replica. Of Sentinels, each attempt asks for the master.
 */

export interface RedisAddress {
  /** With Sentinels, its host is the name of the master that they watch. */
  readonly url: string;
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  readonly sentinelPassword: string | undefined;
}

type ConnectionOptions = Omit<RedisOptions, 'replyMapping'>;

function toOptions({ url, sentinels, sentinelPassword }: RedisAddress): ConnectionOptions {
  if (sentinels.length === 0) return {};
  const { protocol, hostname } = new URL(url);
  return {
    sentinels: [...sentinels],
    name: hostname,
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(protocol === 'rediss:' && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  };
}

/** A script reports it within an error of its own. */
const isRefusedByReplica = (error: Error): boolean => error.message.includes('READONLY');

/** Opens a connection, which reconnects for as long as it is not closed. */
export function connectRedis(
  address: RedisAddress,
  options: ConnectionOptions,
  onError: (error: Error) => void,
): Redis {
  const redis = new Redis(address.url, {
    ...toOptions(address),
    retryStrategy: (times: number) => Math.min(times * 100, 1_000),
    reconnectOnError: isRefusedByReplica,
    ...options,
  });
  redis.on('error', onError);
  redis.on('ready', () => {
    readServer(redis).then(
      ({ role }) => {
        if (role !== 'slave') return;
        onError(new Error('Redis answers as a replica, which takes no writes: connecting again'));
        redis.disconnect(true);
      },
      // The connection has ended again.
      () => undefined,
    );
  });
  return redis;
}

/** Returns the fields of `INFO`. */
async function readServer(redis: Redis): Promise<Readonly<Record<string, string>>> {
  const fields = (await redis.info()).split(/\r?\n/).map((line) => line.split(':', 2));
  return Object.fromEntries(fields.map(([name = '', value = '']) => [name, value.trim()]));
}

/** What BullMQ recommends. Valkey, too, names the version of Redis that it is compatible with. */
const MIN_VERSION = [6, 2] as const;

/**
 * Looks at the server once, for all queues and workers: each of them would print what it finds.
 *
 * @throws ConfigError for a server with which the queues cannot work.
 */
export async function assertSuitable(redis: Redis, log: Pick<Logger, 'warn'>): Promise<void> {
  const server = await readServer(redis);
  const { redis_version: version = '', redis_mode: mode, maxmemory_policy: policy } = server;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1]);
  if (version !== '' && isOld)
    throw new ConfigError([
      `REDIS_URL leads to a server of version ${version}: it must be Redis ${MIN_VERSION.join('.')} or newer, or Valkey`,
    ]);
  if (mode === 'cluster')
    throw new ConfigError([
      'REDIS_URL leads to a Redis Cluster: it must be one master with or without replicas',
    ]);
  if (policy !== undefined && policy !== 'noeviction')
    log.warn(
      { policy },
      'Redis deletes jobs when its memory is full: set its maxmemory-policy to noeviction',
    );
}
