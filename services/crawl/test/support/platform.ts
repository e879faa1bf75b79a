import {
  type Answer,
  type CallOptions,
  callUrl,
  describeWith,
  ENCRYPTION_KEYS,
  type OwnRedis,
  SERVICE_SECRET,
  startOwnRedis,
  testIdentity,
  waitFor,
} from '@platform/testing';
import pg from 'pg';
import { createCrawlDatabase } from './database.js';
import { isReady, type Replica, type ReplicaProcess, startReplica, startReplicaProcess } from './replica.js';

/* Crawl with its own database, and an identity service that all tests share. */

/** The queue backends. */
export type Backend = 'redis' | 'postgres';

/** Declares a `describe` for each backend, whose name replaces `%s` in the title. Redis is left out if it's unavailable. */
export function describeEachBackend(title: string, body: (backend: Backend) => void): void {
  describeWith('own-redis', title.replace('%s', 'redis'), () => body('redis'));
  describe(title.replace('%s', 'postgres'), () => body('postgres'));
}

export interface Organisation {
  readonly orgId: string;
  /** An administrator's session. */
  readonly token: string;
}

export interface Platform {
  /** The replica that `call` uses. It runs in this thread, unless a process has replaced it. */
  readonly crawl: Replica;
  readonly identityUrl: string;
  readonly redis: OwnRedis | undefined;
  /** A pool for reading what is stored. */
  readonly db: pg.Pool;
  /** The database of crawl. */
  readonly databaseUrl: string;
  readonly admin: Organisation;
  /** Calls crawl's API as the administrator of the first organisation, or with `token`. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  toIdentity(method: string, path: string, options?: CallOptions): Promise<Answer>;
  createOrganisation(): Promise<Organisation>;
  /** Starts another crawl on the same database and queues. With `isFirst` it replaces `crawl`. */
  addCrawl(env?: Record<string, string>, options?: AddOptions): Promise<Replica>;
  /** The same as a process, which the test may kill. */
  addProcess(env?: Record<string, string>, options?: Pick<AddOptions, 'isFirst'>): Promise<ReplicaProcess>;
  close(): Promise<void>;
}

interface AddOptions {
  readonly isFirst?: boolean;
  readonly isReadyAwaited?: boolean;
}

export async function startPlatform(options: {
  readonly backend: Backend;
  readonly env?: Record<string, string>;
  /** The URL of a PostgreSQL server of the test's own, which the test may stop. */
  readonly adminUrl?: string;
}): Promise<Platform> {
  const database = await createCrawlDatabase(options.adminUrl);
  const redis = options.backend === 'redis' ? await startOwnRedis() : undefined;
  const { url: identityUrl, organisation } = await testIdentity();
  const replicas: Replica[] = [];
  const toEnvironment = (env: Record<string, string>) => ({
    DATABASE_URL: database.url,
    // Longer timeouts for busy machines.
    DATABASE_TIMEOUT_MS: '5000',
    IDENTITY_TIMEOUT_MS: '5000',
    IDENTITY_URL: identityUrl,
    SERVICE_CLIENT_SECRET: SERVICE_SECRET,
    ENCRYPTION_KEYS,
    LOG_LEVEL: 'debug',
    RETRY_DELAY_MS: '100',
    STALLED_INTERVAL_MS: '1000',
    OVERDUE_GRACE_MS: '1000',
    ENDPOINT_ALLOWED_TARGETS: '127.0.0.0/8',
    ...(redis !== undefined && { REDIS_URL: redis.url }),
    ...options.env,
    ...env,
  });
  let crawl: Replica;
  function add<T extends Replica>(replica: T, isFirst: boolean): T {
    replicas.push(replica);
    if (isFirst) crawl = replica;
    return replica;
  }
  const addCrawl: Platform['addCrawl'] = async (
    env = {},
    { isFirst = false, isReadyAwaited = true } = {},
  ) => {
    const replica = add(await startReplica(toEnvironment(env)), isFirst);
    if (isReadyAwaited) await waitFor(() => isReady(replica), { what: 'readiness' });
    return replica;
  };
  let organisations = 0;
  const createOrganisation = async (): Promise<Organisation> => {
    // The organisations are those of every platform: crawl stores its data about them in a database of each.
    const { admin: body } = await organisation(`crawl-${++organisations}`);
    const login = await callUrl(`${identityUrl}/api/v1/auth/login`, 'POST', { body });
    return { orgId: login.body.user.orgId as string, token: login.body.accessToken as string };
  };
  const admin = await createOrganisation();
  await addCrawl({}, { isFirst: true });
  const db = new pg.Pool({ connectionString: database.url, max: 4 });
  db.on('error', () => undefined);
  return {
    get crawl() {
      return crawl;
    },
    identityUrl,
    redis,
    db,
    databaseUrl: database.url,
    admin,
    call: (method, path, given) =>
      callUrl(`${crawl.url}/api/v1/crawlingManager${path}`, method, { token: admin.token, ...given }),
    toIdentity: (method, path, given) =>
      callUrl(identityUrl + path, method, { token: admin.token, ...given }),
    createOrganisation,
    addCrawl,
    addProcess: async (env = {}, { isFirst = false } = {}) =>
      add(await startReplicaProcess(toEnvironment(env)), isFirst),
    async close() {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await redis?.close();
      await db.end();
      await database.drop();
    },
  };
}
