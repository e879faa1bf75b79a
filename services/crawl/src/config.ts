import { identityClientVariables } from '@platform/auth';
import { findKafkaContradictions, kafkaVariables, syncEvents } from '@platform/events';
import {
  encryptionKeys,
  integer,
  loadConfig,
  oneOf,
  parsedList,
  parseTarget,
  serviceVariables,
  text,
  url,
  type Values,
  withDefault,
} from '@platform/service-kit';

const databaseUrl = url(['postgres:', 'postgresql:'], 'postgresql://user:password@host:5432/crawl');

const SENTINEL_PORT = 26_379;

/** @returns undefined for a text that is not `<host>:<port>` or `<host>`. */
function parseSentinel(given: string): { readonly host: string; readonly port: number } | undefined {
  const address = URL.parse(`redis://${given}`);
  if (!address || address.host === '' || address.href !== `redis://${address.host}`) return undefined;
  // An IPv6 address has brackets in a URL, and none where it is connected to.
  const host = address.hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(address.port || SENTINEL_PORT) };
}

/** All variables that the service reads from its environment. */
export const crawlVariables = {
  ...serviceVariables,
  DATABASE_URL: databaseUrl,
  DATABASE_CONNECTIONS_MAX: withDefault(integer(2, 200), 10),
  /** The connections of the worker, which requests cannot use up. */
  WORKER_CONNECTIONS_MAX: withDefault(integer(3, 200), 8),
  /** Without it BullMQ keeps its queues in the schema `bullmq` of the same database. */
  REDIS_URL: withDefault(url(['redis:', 'rediss:'], 'redis://:password@host:6379/0'), undefined),
  /** With them, the host of `REDIS_URL` is the name of the master that they watch. */
  REDIS_SENTINELS: withDefault(parsedList('<host>:<port> of Sentinels', parseSentinel), []),
  REDIS_SENTINEL_PASSWORD: withDefault(text(), undefined),
  ...kafkaVariables,
  KAFKA_TOPIC: withDefault(text('the name of a topic'), syncEvents.topic),
  ...identityClientVariables('crawl'),
  /** What seals the secrets of endpoints and hooks. */
  ENCRYPTION_KEYS: encryptionKeys,
  /** Targets of these endpoints that are allowed in addition to public addresses with TLS. */
  ENDPOINT_ALLOWED_TARGETS: withDefault(
    parsedList('addresses, CIDR ranges and host names, each with :port or without', parseTarget),
    [],
  ),
  /** The time for which an endpoint may be unavailable, in each attempt of a run, before the attempt fails. */
  ENDPOINT_GRACE_MS: withDefault(integer(0, 3_600_000), 300_000),
  /** Whether this process serves the API, runs the crawls, or both. */
  ROLE: withDefault(oneOf('api', 'worker', 'all'), 'all' as const),
  /** The limit of each queue over all replicas together (CRAWL-24). */
  QUEUE_CONCURRENCY: withDefault(integer(1, 1_000), 5),
  RETRY_DELAY_MS: withDefault(integer(1, 3_600_000), 5_000),
  STALLED_INTERVAL_MS: withDefault(integer(100, 600_000), 30_000),
  OVERDUE_GRACE_MS: withDefault(integer(100, 3_600_000), 60_000),
  /** After so many failed runs in a row a connector counts as failing, and administrators are mailed. */
  FAILING_AFTER: withDefault(integer(1, 1_000), 3),
  /** How long after the first ring of a hook its run starts: all rings until then are one run (CRAWL-50). */
  HOOK_DELAY_MS: withDefault(integer(0, 600_000), 30_000),
  MISFIRE_GRACE_MS: withDefault(integer(100, 86_400_000), 300_000),
} as const;

type Given = Partial<Values<typeof crawlVariables>>;

function findRedisContradictions(values: Given): string[] {
  const faults: string[] = [];
  const areSentinels = (values.REDIS_SENTINELS ?? []).length > 0;
  if (areSentinels && 'REDIS_URL' in values && values.REDIS_URL === undefined)
    faults.push(
      'REDIS_SENTINELS says nothing without REDIS_URL, whose host is then the name of the master: redis://:password@name/0',
    );
  if (values.REDIS_SENTINEL_PASSWORD !== undefined && 'REDIS_SENTINELS' in values && !areSentinels)
    faults.push('REDIS_SENTINEL_PASSWORD says nothing without REDIS_SENTINELS');
  return faults;
}

export const loadCrawlConfig = (env: NodeJS.ProcessEnv) =>
  loadConfig(env, crawlVariables, (values) => [
    ...findKafkaContradictions(values),
    ...findRedisContradictions(values),
  ]);

export type CrawlConfig = ReturnType<typeof loadCrawlConfig>;
