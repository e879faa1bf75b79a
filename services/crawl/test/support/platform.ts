import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { migrate } from '@platform/service-kit';
import {
  type Answer,
  type CallOptions,
  callUrl,
  createTestDatabase,
  describeWith,
  type OwnRedis,
  startOwnRedis,
  type TestDatabase,
  waitFor,
} from '@platform/testing';
import pg from 'pg';
import { migrateQueues } from '../../src/features/queues/engine.js';
import { lookIntoQueues, type QueueView } from './queue-view.js';
import { type ServiceProcess, startService } from './service-process.js';

/* Identity and crawl as processes, over databases of their own: what can be killed can be tested. */

const run = promisify(execFile);
const services = fileURLToPath(new URL('../../..', import.meta.url));
const pathOf = (service: string, file: string) => join(services, service, file);

/** Where the queues can be. */
export type Backend = 'redis' | 'postgres';

/** A `describe` for each backend: `%s` in the title is its name. Redis is left out where it can't be had. */
export function describeEachBackend(title: string, body: (backend: Backend) => void): void {
  describeWith('own-redis', title.replace('%s', 'redis'), () => body('redis'));
  describe(title.replace('%s', 'postgres'), () => body('postgres'));
}

export const SERVICE_SECRET = 'a-secret-of-the-crawl-service-0123456789';
const password = 'correct-Horse-battery-9';

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
  readonly identity: ServiceProcess;
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
  /** Another crawl on the same database and queue; with `isFirst` it takes the place of `crawl`. */
  addCrawl(
    env?: Record<string, string>,
    isFirst?: boolean,
    isReadyAwaited?: boolean,
  ): Promise<ServiceProcess>;
  close(): Promise<void>;
}

const database = (service: string, adminUrl: string | undefined, after?: (url: string) => Promise<void>) => {
  const migrationsDir = pathOf(service, 'prisma/migrations');
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

async function createAdmin(identityDatabase: TestDatabase, identity: ServiceProcess): Promise<Organisation> {
  const email = `admin-${randomUUID()}@example.com`;
  const args = ['create-organisation', '--name', 'Example', '--admin-email', email];
  const { stdout } = await run(process.execPath, [pathOf('identity', 'dist/cli.js'), ...args], {
    env: { DATABASE_URL: identityDatabase.url, ADMIN_PASSWORD: password },
  });
  const orgId = /organisation (\S+),/.exec(stdout)?.[1] ?? '';
  const { body } = await callUrl(`${identity.url}/api/v1/auth/login`, 'POST', { body: { email, password } });
  return { orgId, token: body.accessToken as string };
}

export async function startPlatform(options: {
  readonly backend: Backend;
  readonly env?: Record<string, string>;
  /** The server of crawl's database, when the test breaks it. */
  readonly crawlAdminUrl?: string;
  /** How far the clocks of the services are ahead. */
  readonly clockAheadMs?: number;
}): Promise<Platform> {
  const [identityDatabase, crawlDatabase] = await Promise.all([
    database('identity', undefined),
    database('crawl', options.crawlAdminUrl, migrateQueues),
  ]);
  const redis = options.backend === 'redis' ? await startOwnRedis() : undefined;
  const clock =
    options.clockAheadMs === undefined ? undefined : { CLOCK_AHEAD_MS: String(options.clockAheadMs) };
  const identity = await startService({
    program: pathOf('identity', 'dist/server.js'),
    env: {
      DATABASE_URL: identityDatabase.url,
      LOG_LEVEL: 'warn',
      ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
      SERVICE_CLIENTS: `crawl:${SERVICE_SECRET}`,
      ...clock,
    },
  });
  const replicas: ServiceProcess[] = [];
  const startCrawl = async (env: Record<string, string> = {}, isReadyAwaited = true) => {
    const replica = await startService({
      isReadyAwaited,
      program: pathOf('crawl', 'dist/server.js'),
      env: {
        DATABASE_URL: crawlDatabase.url,
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
  // One after the other: each is a process, and on a busy machine many at once run into their time-outs.
  let creating: Promise<unknown> = Promise.resolve();
  const createOrganisation = () => {
    const created = creating.then(() =>
      waitFor(() => createAdmin(identityDatabase, identity), { what: 'an organisation', timeoutMs: 30_000 }),
    );
    creating = created.catch(() => undefined);
    return created;
  };
  const admin = await createOrganisation();
  let crawl = await startCrawl();
  const db = new pg.Pool({ connectionString: crawlDatabase.url, max: 4 });
  db.on('error', () => undefined);
  const queues = lookIntoQueues({ redisUrl: redis?.url, databaseUrl: crawlDatabase.url });
  return {
    get crawl() {
      return crawl;
    },
    identity,
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
      await identity.stop();
      await queues.close();
      await redis?.close();
      await db.end();
      await Promise.all([identityDatabase.drop(), crawlDatabase.drop()]);
    },
  };
}
