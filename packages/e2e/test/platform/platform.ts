import { join } from 'node:path';
import { findFreePort } from '@platform/embedded';
import { SERVICES } from '@platform/local/services';
import {
  createTestDatabase,
  type OwnRedis,
  startOwnRedis,
  type TestDatabase,
  withAdmin,
  ENCRYPTION_KEYS,
} from '@platform/testing';
import { root } from '../deploy/chart.js';
import { runCommand } from './command.js';
import { type Nginx, startNginx } from './nginx.js';
import { createReplica, type Replica } from './replica.js';

export type ServiceName = 'identity' | 'mail' | 'crawl';

/** The services behind nginx, over their own databases and Redis. */
export interface Platform {
  readonly url: string;
  readonly replicas: Readonly<Record<ServiceName, readonly Replica[]>>;
  /** A session of the first administrator. */
  readonly session: string;
  /** Opens another session. */
  login(): Promise<string>;
  readonly redis: OwnRedis;
  /** The URL of each service's database. */
  readonly databaseUrls: Readonly<Record<ServiceName, string>>;
  /** Queries a service's database. */
  query(service: ServiceName, text: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export type Databases = Readonly<Record<ServiceName, TestDatabase>>;

export interface PlatformOptions {
  readonly replicas: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly envByService?: Partial<Record<ServiceName, NodeJS.ProcessEnv>>;
  /** Default: migrated and empty ones. The platform removes them when it is closed. */
  readonly databases?: Databases;
}

export const SERVICE_NAMES = SERVICES.map(({ name }) => name as ServiceName);
export const ADMIN = { email: 'admin@example.com', password: 'a-good-password' };
const secret = 's'.repeat(40);

/** Applies the migrations of a service with its own command. */
export async function migrateDatabase(service: ServiceName, url: string): Promise<void> {
  const { code, stderr } = await runCommand(service, ['migrate'], { DATABASE_URL: url });
  if (code !== 0) throw new Error(stderr);
}

export const getMigrations = (service: ServiceName): string =>
  join(root, 'services', service, 'prisma/migrations');
export const crawlMigrations = getMigrations('crawl');

const makeDatabase = (service: ServiceName) =>
  createTestDatabase({
    // A different template from that of the service's own tests, which another program migrates.
    template: `${service}_deployed`,
    migrationsDir: getMigrations(service),
    migrate: (url) => migrateDatabase(service, url),
  });

/** Resolves a value for each service. */
export async function forEachService<Value>(
  create: (service: ServiceName) => Promise<Value>,
): Promise<Record<ServiceName, Value>> {
  const entries = await Promise.all(SERVICE_NAMES.map(async (name) => [name, await create(name)] as const));
  return Object.fromEntries(entries) as Record<ServiceName, Value>;
}

/** Creates migrated and empty databases. */
export const createDatabases = (): Promise<Databases> => forEachService(makeDatabase);

const environments = (nginx: Nginx, redisUrl: string): Record<ServiceName, NodeJS.ProcessEnv> => {
  const client = {
    IDENTITY_URL: nginx.internalUrl,
    // A busy machine may need longer than the default.
    IDENTITY_TIMEOUT_MS: '5000',
    SERVICE_CLIENT_SECRET: secret,
    ENCRYPTION_KEYS,
  };
  return {
    identity: {
      ENCRYPTION_KEYS,
      SERVICE_CLIENTS: `mail:${secret},crawl:${secret}`,
      MAIL_URL: nginx.internalUrl,
      CRAWL_URL: nginx.internalUrl,
      BOOTSTRAP_ADMIN_EMAIL: ADMIN.email,
      BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
    },
    mail: client,
    crawl: { ...client, REDIS_URL: redisUrl },
  };
};

export async function startPlatform({
  replicas: count,
  env,
  envByService,
  databases: given,
}: PlatformOptions): Promise<Platform> {
  const databases = given ?? (await createDatabases());
  const redis = await startOwnRedis();
  const ports = Object.fromEntries(SERVICE_NAMES.map((name) => [name, [] as number[]])) as Record<
    ServiceName,
    number[]
  >;
  for (const name of SERVICE_NAMES)
    while (ports[name].length < count) {
      const port = await findFreePort();
      if (!Object.values(ports).flat().includes(port)) ports[name].push(port);
    }
  const listAddresses = (name: ServiceName) => ports[name].map((port) => `127.0.0.1:${port}`);
  const nginx = await startNginx(
    Object.fromEntries(SERVICE_NAMES.map((name) => [name, listAddresses(name)])),
  );
  const own = environments(nginx, redis.url);
  const listReplicas = (name: ServiceName) =>
    ports[name].map((port) =>
      createReplica(name, port, {
        DATABASE_URL: databases[name].url,
        DATABASE_TIMEOUT_MS: '5000',
        PUBLIC_URL: nginx.url,
        TRUST_PROXY: '127.0.0.1',
        LOG_LEVEL: 'warn',
        // Longer than the gateway keeps idle connections, as in production; nobody takes over from the only one.
        SHUTDOWN_DELAY_MS: count > 1 ? '5000' : '0',
        ...own[name],
        ...env,
        ...envByService?.[name],
      }),
    );
  const replicas = Object.fromEntries(SERVICE_NAMES.map((name) => [name, listReplicas(name)])) as Record<
    ServiceName,
    Replica[]
  >;
  const login = async () => {
    const answer = await fetch(`${nginx.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ADMIN),
    });
    return ((await answer.json()) as { accessToken: string }).accessToken;
  };
  const close = async () => {
    const all = Object.values(replicas).flat();
    await Promise.all(all.map((one) => one.kill()));
    await nginx.stop();
    await redis.close();
    await Promise.all(Object.values(databases).map((one) => one.drop()));
  };
  let session: string;
  try {
    await Promise.all(replicas.identity.map((one) => one.start()));
    await Promise.all([...replicas.mail, ...replicas.crawl].map((one) => one.start()));
    session = await login();
  } catch (error) {
    await close();
    throw error;
  }
  const urls = SERVICE_NAMES.map((name) => [name, databases[name].url] as const);
  return {
    url: nginx.url,
    replicas,
    session,
    login,
    redis,
    databaseUrls: Object.fromEntries(urls) as Record<ServiceName, string>,
    query: (service, text) =>
      withAdmin(databases[service].url, async (client) => {
        const { rows } = await client.query<Record<string, unknown>>(text);
        return rows;
      }),
    close,
  };
}
