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
import { migrateQueues } from '../../src/queue/backend.js';
import { openQueueView, type QueueView } from './queue-view.js';
import { type ServiceProcess, startService } from './service-process.js';

/* Crawl as a process, over a database of its own: what can be killed can be tested. */

const services = fileURLToPath(new URL('../../..', import.meta.url));
const toPath = (service: string, file: string) => join(services, service, file);

/** Where the queues can be. */
export type Backend = 'redis' | 'postgres';

/** A `describe` for each backend: `%s` in the title is its name. Redis is left out where it can't be had. */
export function describeEachBackend(title: string, body: (backend: Backend) => void): void {
  describeWith('own-redis', title.replace('%s', 'redis'), () => body('redis'));
  describe(title.replace('%s', 'postgres'), () => body('postgres'));
}

/** What the requests to every endpoint of a test are signed with. */
export const TASK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
/** One for each endpoint of `TASKS`. */
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
  /** For looking at what is stored. */
  readonly db: pg.Pool;
  /** Of crawl. */
  readonly databaseUrl: string;
  /** For looking at what is in the queues, with connections of its own. */
  readonly queues: QueueView;
  readonly admin: Organisation;
  /** To crawl's API; the first organisation's administrator unless `token` says otherwise. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  toIdentity(method: string, path: string, options?: CallOptions): Promise<Answer>;
  createOrganisation(): Promise<Organisation>;
  /** With an identity of its own. */
  stopIdentity(): Promise<void>;
  /** Another crawl on the same database and queue; with `isFirst` it takes the place of `crawl`. */
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

/** An identity, and the credentials of the administrators of its organisations. */
interface Identity {
  readonly url: string;
  nextAdmin(): Promise<TestOrganisation['admin']>;
  stop(): Promise<void>;
}

/**
 * The identity of the test run. What crawl stores about an organisation is in the platform's own database, so all
 * platforms can have the same organisations.
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

/** A database is slow on a busy machine, unless the test breaks it. */
const PATIENT = { DATABASE_TIMEOUT_MS: '5000' };

/** An identity that the test may stop, or whose clock is another one; it has one organisation. */
async function startOwnIdentity(databaseUrl: string, env: Record<string, string> = {}): Promise<Identity> {
  const admin = { email: 'admin@example.com', password: 'correct-Horse-battery-9' };
  const service = await startService({
    program: toPath('identity', 'dist/server.js'),
    env: {
      DATABASE_URL: databaseUrl,
      ...PATIENT,
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
  /** The server of crawl's database, when the test breaks it. */
  readonly crawlAdminUrl?: string;
  /** How far the clocks of the services are ahead; identity is the platform's own then. */
  readonly clockAheadMs?: number;
  /** For a test that stops identity: it has one organisation. */
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
        ...(options.crawlAdminUrl === undefined && PATIENT),
        IDENTITY_URL: identity.url,
        SERVICE_CLIENT_SECRET: SERVICE_SECRET,
        LOG_LEVEL: 'debug',
        RETRY_DELAY_MS: '100',
        STALLED_INTERVAL_MS: '1000',
        RECONCILE_INTERVAL_MS: '500',
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
