import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '@platform/service-kit';
import {
  type Answer,
  type CallOptions,
  callUrl,
  createTestDatabase,
  describeWith,
  type OwnRedis,
  SERVICE_SECRET,
  startOwnRedis,
  testIdentity,
  type TestOrganisation,
} from '@platform/testing';
import pg from 'pg';
import { migrateQueues } from '../../src/queue/migrations.js';
import { openQueueView, type QueueView } from './queue-view.js';
import { type ServiceProcess, startService } from './service-process.js';

/* Crawl as a process with a database of its own, so that tests can kill it. */

const services = fileURLToPath(new URL('../../..', import.meta.url));
const toPath = (service: string, file: string) => join(services, service, file);

/** The queue backends. */
export type Backend = 'redis' | 'postgres';

/** Declares a `describe` for each backend, whose name replaces `%s` in the title. Redis is left out if it's unavailable. */
export function describeEachBackend(title: string, body: (backend: Backend) => void): void {
  describeWith('own-redis', title.replace('%s', 'redis'), () => body('redis'));
  describe(title.replace('%s', 'postgres'), () => body('postgres'));
}

/** The secret that signs the requests to every endpoint of a test. */
export const TASK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
/** Returns `TASK_SECRETS` for the endpoints of `TASKS`. */
const secretsFor = (tasks: string): string => tasks.replaceAll(/=[^,]*/g, `=${TASK_SECRET}`);

export interface Organisation {
  readonly orgId: string;
  /** An administrator's session. */
  readonly token: string;
}

export interface Platform {
  readonly crawl: ServiceProcess;
  readonly identityUrl: string;
  readonly redis: OwnRedis | undefined;
  /** A pool for reading what is stored. */
  readonly db: pg.Pool;
  /** The database of crawl. */
  readonly databaseUrl: string;
  /** Reads the queues over connections of its own. */
  readonly queues: QueueView;
  readonly admin: Organisation;
  /** Calls crawl's API as the administrator of the first organisation, or with `token`. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  toIdentity(method: string, path: string, options?: CallOptions): Promise<Answer>;
  createOrganisation(): Promise<Organisation>;
  /** Stops identity. It requires `hasOwnIdentity`. */
  stopIdentity(): Promise<void>;
  /** Starts another crawl on the same database and queues. With `isFirst` it replaces `crawl`. */
  addCrawl(
    env?: Record<string, string>,
    isFirst?: boolean,
    isReadyAwaited?: boolean,
  ): Promise<ServiceProcess>;
  close(): Promise<void>;
}

const database = (service: string, adminUrl: string | undefined, after?: (url: string) => Promise<void>) => {
  const migrationsDir = toPath(service, 'prisma/migrations');
  return createTestDatabase({
    template: service,
    migrationsDir,
    migrate: async (url) => {
      await migrate(url, migrationsDir);
      await after?.(url);
    },
    ...(adminUrl === undefined ? {} : { adminUrl }),
  });
};

/** An identity service, with the credentials of the administrators of its organisations. */
interface Identity {
  readonly url: string;
  nextAdmin(): Promise<TestOrganisation['admin']>;
  stop(): Promise<void>;
}

/**
 * The identity service of the test run. All platforms can share its organisations, because crawl stores its data about
 * them in a database of each platform.
 */
async function shareIdentity(): Promise<Identity> {
  const { url, organisation } = await testIdentity();
  let count = 0;
  return {
    url,
    nextAdmin: async () => (await organisation(`crawl-${++count}`)).admin,
    stop: () => Promise.reject(new Error('other tests use this identity: start the platform with its own')),
  };
}

/** Longer timeouts for busy machines, except where the test breaks the database. */
const LONG_TIMEOUT = { DATABASE_TIMEOUT_MS: '5000', IDENTITY_TIMEOUT_MS: '5000' };

/** Starts an identity service with one organisation, which the test may stop or give another clock. */
async function startOwnIdentity(databaseUrl: string, env: Record<string, string> = {}): Promise<Identity> {
  const admin = { email: 'admin@example.com', password: 'correct-Horse-battery-9' };
  const service = await startService({
    program: toPath('identity', 'dist/server.js'),
    env: {
      DATABASE_URL: databaseUrl,
      ...LONG_TIMEOUT,
      LOG_LEVEL: 'warn',
      ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
      SERVICE_CLIENTS: `crawl:${SERVICE_SECRET}`,
      BOOTSTRAP_ADMIN_EMAIL: admin.email,
      BOOTSTRAP_ADMIN_PASSWORD: admin.password,
      ...env,
    },
  });
  return {
    url: service.url,
    nextAdmin: () => Promise.resolve(admin),
    stop: async () => void (await service.stop()),
  };
}

export async function startPlatform(options: {
  readonly backend: Backend;
  readonly env?: Record<string, string>;
  /** The URL of a PostgreSQL server of the test's own, which the test may stop. */
  readonly crawlAdminUrl?: string;
  /**
   * The time by which the clocks of the services are ahead. Setting it gives the platform an identity service of its
   * own.
   */
  readonly clockAheadMs?: number;
  /** Starts an identity service with one organisation, which the test may stop. */
  readonly hasOwnIdentity?: boolean;
}): Promise<Platform> {
  const clock =
    options.clockAheadMs === undefined ? undefined : { CLOCK_AHEAD_MS: String(options.clockAheadMs) };
  const isIdentityOwn = options.hasOwnIdentity === true || clock !== undefined;
  const [identityDatabase, crawlDatabase] = await Promise.all([
    isIdentityOwn ? database('identity', undefined) : undefined,
    database('crawl', options.crawlAdminUrl, migrateQueues),
  ]);
  const redis = options.backend === 'redis' ? await startOwnRedis() : undefined;
  const identity = identityDatabase
    ? await startOwnIdentity(identityDatabase.url, clock)
    : await shareIdentity();
  const replicas: ServiceProcess[] = [];
  const startCrawl = async (env: Record<string, string> = {}, isReadyAwaited = true) => {
    const replica = await startService({
      isReadyAwaited,
      program: toPath('crawl', 'dist/server.js'),
      env: {
        DATABASE_URL: crawlDatabase.url,
        ...(options.crawlAdminUrl === undefined && LONG_TIMEOUT),
        IDENTITY_URL: identity.url,
        SERVICE_CLIENT_SECRET: SERVICE_SECRET,
        LOG_LEVEL: 'debug',
        RETRY_DELAY_MS: '100',
        STALLED_INTERVAL_MS: '1000',
        OVERDUE_GRACE_MS: '1000',
        ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
        ...clock,
        ...(options.env?.['TASKS'] !== undefined && { TASK_SECRETS: secretsFor(options.env['TASKS']) }),
        ...options.env,
        ...env,
      },
    });
    replicas.push(replica);
    return replica;
  };
  const createOrganisation = async (): Promise<Organisation> => {
    const body = await identity.nextAdmin();
    const login = await callUrl(`${identity.url}/api/v1/auth/login`, 'POST', { body });
    return { orgId: login.body.user.orgId as string, token: login.body.accessToken as string };
  };
  const admin = await createOrganisation();
  let crawl = await startCrawl();
  const db = new pg.Pool({ connectionString: crawlDatabase.url, max: 4 });
  db.on('error', () => undefined);
  const queues = openQueueView({ redisUrl: redis?.url, databaseUrl: crawlDatabase.url });
  return {
    get crawl() {
      return crawl;
    },
    identityUrl: identity.url,
    stopIdentity: identity.stop,
    redis,
    db,
    databaseUrl: crawlDatabase.url,
    queues,
    admin,
    call: (method, path, given) =>
      callUrl(`${crawl.url}/api/v1/crawlingManager${path}`, method, { token: admin.token, ...given }),
    toIdentity: (method, path, given) =>
      callUrl(identity.url + path, method, { token: admin.token, ...given }),
    createOrganisation,
    async addCrawl(env, isFirst = false, isReadyAwaited = true) {
      const replica = await startCrawl(env, isReadyAwaited);
      if (isFirst) crawl = replica;
      return replica;
    },
    async close() {
      await Promise.all(replicas.map((replica) => replica.stop()));
      if (identityDatabase) await identity.stop();
      await queues.close();
      await redis?.close();
      await db.end();
      await Promise.all([identityDatabase?.drop(), crawlDatabase.drop()]);
    },
  };
}
