import { fileURLToPath } from 'node:url';
import type { AddressInfo } from 'node:net';
import { factContracts, type FactEvent } from '@platform/events';
import { createLogger, createShutdown, migrate, systemClock } from '@platform/service-kit';
import { type Answer, type CallOptions, callUrl, createTestDatabase } from '@platform/testing';
import pg from 'pg';
import { Compile } from 'typebox/compile';
import { buildIdentity } from '../src/app.js';
import { loadIdentityConfig } from '../src/config.js';
import type { ResolveTxt } from '../src/sign-in/identity-provider/dns.js';
import { createExpiryJob } from '../src/jobs/expiry.job.js';
import { createOrganisation } from '../src/commands/organisations.js';
import { createPasswords } from '../src/base/passwords.js';
import type { Prisma } from '../src/prisma.js';
import { openResources } from '../src/resources.js';

export const migrationsFolder = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

export const admin = { email: 'admin@example.com', password: 'correct-horse-battery' };
export const serviceClient = { id: 'probe', secret: 'a-secret-of-a-service-0123456789abcdef' };
export const encryptionKeys = `k1:${Buffer.alloc(32, 1).toString('base64')}`;

/** Hashes for a hundredth of the price. */
const passwords = createPasswords({ memoryCost: 8, timeCost: 1, parallelism: 1 });

export interface IdentityUnderTest {
  readonly url: string;
  readonly databaseUrl: string;
  /** A pool for checking what is stored. */
  readonly db: pg.Pool;
  /** The service's own client. */
  readonly prisma: Prisma;
  readonly orgId: string;
  /** Returns everything that was logged. */
  logged(): string;
  /** Moves the service's clock, not the database's. */
  advance(milliseconds: number): void;
  /** Runs the expiry job now. */
  sweep(): Promise<void>;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  login(credentials?: { email: string; password: string }): Promise<string>;
  createMember(session: string, role?: 'admin' | 'member'): Promise<Member>;
  createToken(session: string, fields?: object): Promise<CreatedToken>;
  createOrganisation(adminEmail: string): Promise<{ orgId: string; session: string }>;
  close(): Promise<void>;
}

export interface Member {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly session: string;
}

export interface CreatedToken {
  readonly id: string;
  readonly name: string;
  readonly scopes: string[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly accessToken: string;
}

export const createIdentityDatabase = (adminUrl?: string) =>
  createTestDatabase({
    template: 'identity',
    migrationsDir: migrationsFolder,
    migrate: async (url) => {
      await migrate(url, migrationsFolder);
    },
    ...(adminUrl === undefined ? {} : { adminUrl }),
  });

/** The database may be slow on a busy machine. */
export const PATIENT = { DATABASE_TIMEOUT_MS: '5000' };
/** The default in production. */
const IMPATIENT = { DATABASE_TIMEOUT_MS: '1000' };

/** The parts that replace the network, and the address to listen on. */
export interface StartOptions {
  /** The port to listen on, for clients that follow PUBLIC_URL. */
  readonly port?: number;
  /** Stands in for the network that documents of OAuth clients are fetched from. */
  readonly fetchDocument?: typeof fetch;
  /** Stands in for the name servers that know the domains of organisations. */
  readonly resolveTxt?: ResolveTxt;
  /** Whether the built console is served too. */
  readonly hasConsole?: boolean;
}

const consoleFolder = fileURLToPath(new URL('../node_modules/@platform/console/dist', import.meta.url));

/** Starts the service with a database, on a free port by default. */
export async function start(
  databaseUrl: string,
  environment: NodeJS.ProcessEnv,
  { fetchDocument, resolveTxt, hasConsole = false, port: wantedPort = 0 }: StartOptions = {},
) {
  const config = loadIdentityConfig({
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEYS: encryptionKeys,
    SERVICE_CLIENTS: `${serviceClient.id}:${serviceClient.secret}`,
    CRAWL_CLIENT_ID: serviceClient.id,
    ...PATIENT,
    ...environment,
  });
  let written = '';
  const log = createLogger('identity', 'debug', {
    write: (line) => {
      written += line;
    },
  });
  let offsetMs = 0;
  const shutdown = createShutdown(log);
  const { DATABASE_TIMEOUT_MS: timeoutMs } = config;
  const resources = openResources({ databaseUrl, maxConnections: 8, timeoutMs, log, shutdown });
  const clock = () => systemClock() + offsetMs;
  const service = await buildIdentity({
    config,
    resources,
    shutdown,
    clock,
    passwords,
    ...(fetchDocument && { fetchDocument }),
    ...(resolveTxt && { resolveTxt }),
    ...(hasConsole && { consoleFolder }),
  });
  shutdown.on('http', 'listener', () => service.app.close());
  await service.app.listen({ host: '127.0.0.1', port: wantedPort });
  const { port } = service.app.server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    shutdown,
    resources,
    clock,
    logged: () => written,
    advance: (milliseconds: number) => {
      offsetMs += milliseconds;
    },
  };
}

/** @throws when a fact does not fit the contract of its type, or an entry of the audit is no fact. */
async function assertContracts(db: pg.Pool): Promise<void> {
  const unknown = await db.query(
    // The retention may have deleted facts. Entries of the past are inserted by tests: clocks of tests only advance.
    `select action from audit_entries entry
     where created_at > now() - interval '30 days' and not exists (select from outbox.events where event_id = entry.id)
       and not exists (select from outbox.head where deletions > 0)`,
  );
  if (unknown.rows.length > 0) throw new Error(`${JSON.stringify(unknown.rows)} are no facts`);
  const { rows } = await db.query<{ event: FactEvent }>(
    `select distinct on (event ->> 'type', event -> 'data' ->> 'action') event from outbox.events`,
  );
  for (const { event } of rows) {
    const faults = Compile(factContracts[event.type]).Errors(event);
    if (faults.length > 0) throw new Error(`${JSON.stringify(event)}: ${JSON.stringify(faults)}`);
  }
}

let memberCount = 0;

/** Calls that most tests need, for the URL of any identity. */
function createClient(url: string) {
  const call = (method: string, path: string, options?: CallOptions) => callUrl(url + path, method, options);
  async function login(credentials = admin): Promise<string> {
    const { status, text, body } = await call('POST', '/api/v1/auth/login', { body: credentials });
    if (status !== 200) throw new Error(`login answered ${status}: ${text}`);
    return body.accessToken as string;
  }
  return {
    call,
    login,
    async createMember(session: string, role: 'admin' | 'member' = 'member'): Promise<Member> {
      const credentials = { email: `member-${++memberCount}@example.com`, password: 'correct-horse-battery' };
      const { status, text, body } = await call('POST', '/api/v1/users', {
        token: session,
        body: { ...credentials, fullName: 'Ada Member', role },
      });
      if (status !== 201) throw new Error(`create user answered ${status}: ${text}`);
      return { ...credentials, id: body.user.id as string, session: await login(credentials) };
    },
    async createToken(session: string, fields: object = {}): Promise<CreatedToken> {
      const { status, text, body } = await call('POST', '/api/v1/personal-access-tokens', {
        token: session,
        body: { name: 'test', ...fields },
      });
      if (status !== 201) throw new Error(`create token answered ${status}: ${text}`);
      return body.token as CreatedToken;
    },
  };
}

/** Starts a real identity with its own database, one organisation and its administrator. */
export async function startIdentity(
  options: {
    readonly environment?: NodeJS.ProcessEnv;
    readonly adminUrl?: string;
  } & StartOptions = {},
): Promise<IdentityUnderTest> {
  const database = await createIdentityDatabase(options.adminUrl);
  // A database that the test breaks has the time-outs of production; on a busy machine, another only seems broken.
  const patience = options.adminUrl === undefined ? PATIENT : IMPATIENT;
  const running = await start(database.url, { ...patience, ...options.environment }, options);
  const organisations = {
    prisma: running.resources.prisma,
    passwords,
    clock: running.clock,
  };
  const create = (adminEmail: string) =>
    createOrganisation(organisations, { name: 'Example', adminEmail, adminPassword: admin.password });
  const { orgId } = await create(admin.email);
  const db = new pg.Pool({ connectionString: database.url, max: 4 });
  db.on('error', () => undefined);
  const client = createClient(running.url);
  return {
    ...client,
    url: running.url,
    databaseUrl: database.url,
    db,
    prisma: running.resources.prisma,
    orgId,
    logged: running.logged,
    advance: running.advance,
    sweep: () =>
      createExpiryJob({
        ...running.resources,
        clock: running.clock,
        toolCallDays: 90,
        auditDays: 730,
      }).sweep(),
    async createOrganisation(adminEmail) {
      const created = await create(adminEmail);
      return {
        orgId: created.orgId,
        session: await client.login({ email: adminEmail, password: admin.password }),
      };
    },
    async close() {
      // A database that the test breaks may be gone by now.
      if (options.adminUrl === undefined) await assertContracts(db);
      await running.shutdown.run('test done');
      await db.end();
      await database.drop();
    },
  };
}
