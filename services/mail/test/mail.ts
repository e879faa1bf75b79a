import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import {
  type App,
  type Clock,
  createLogger,
  createShutdown,
  type Logger,
  migrate,
  type ResolveHost,
  systemClock,
} from '@platform/service-kit';
import {
  type Answer,
  type CallOptions,
  callUrl,
  createTestDatabase,
  ENCRYPTION_KEYS,
  SERVICE_SECRET,
  testIdentity,
  waitFor,
} from '@platform/testing';
import pg from 'pg';
import { buildMail } from '../src/app.js';
import { loadMailConfig } from '../src/config.js';
import type { QueueTimes } from '../src/features/queue/upkeep.job.js';
import type { TokenEndpoints } from '../src/features/smtp-oauth/request-token.js';
import { openResources } from '../src/resources.js';

const migrationsFolder = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

export const createMailDatabase = (adminUrl?: string) =>
  createTestDatabase({
    template: 'mail',
    migrationsDir: migrationsFolder,
    migrate: async (url) => {
      await migrate(url, migrationsFolder);
    },
    ...(adminUrl === undefined ? {} : { adminUrl }),
  });

export const mailEnvironment = (databaseUrl: string, identityUrl: string): NodeJS.ProcessEnv => ({
  DATABASE_URL: databaseUrl,
  IDENTITY_URL: identityUrl,
  SERVICE_CLIENT_SECRET: SERVICE_SECRET,
  ENCRYPTION_KEYS,
  PUBLIC_URL: 'https://knowledge.example.com',
  // The SMTP server, the database and identity may be slow on a busy machine. A test that waits for a timeout sets its own.
  SMTP_TIMEOUT_MS: '10000',
  DATABASE_TIMEOUT_MS: '5000',
  IDENTITY_TIMEOUT_MS: '5000',
  SMTP_ALLOWED_TARGETS: '127.0.0.0/8,::1',
  SMTP_TOKEN_ALLOWED_TARGETS: '127.0.0.1',
});

export interface MailOptions {
  readonly environment?: NodeJS.ProcessEnv;
  /** A database server that the test stops and starts. The service then uses the timeouts of production. */
  readonly adminUrl?: string;
  readonly queueTimes?: QueueTimes;
  readonly resolveHost?: ResolveHost;
  readonly tokenEndpoints?: TokenEndpoints;
}

interface BuildOptions extends MailOptions {
  readonly log?: Logger;
  readonly clock?: Clock;
}

export interface MailUnderTest {
  readonly url: string;
  readonly identityUrl: string;
  /** A pool of the test's own, to inspect what is stored. */
  readonly db: pg.Pool;
  readonly databaseUrl: string;
  readonly session: string;
  /** A token with both mail scopes. */
  readonly token: string;
  readonly orgId: string;
  logged(): string;
  advance(milliseconds: number): void;
  /** Calls the mail service. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  identity(method: string, path: string, options?: CallOptions): Promise<Answer>;
  createToken(scopes: readonly string[]): Promise<string>;
  /** Saves the SMTP configuration and has it reloaded. */
  configure(smtp: object): Promise<void>;
  send(fields?: object, headers?: Record<string, string>): Promise<Answer>;
  /** Stops the service, but keeps the database and the test's pool. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

export const emailBody = (fields: object = {}): object => ({
  emailTemplateType: 'loginWithOTP',
  sendEmailTo: ['to@example.com'],
  subject: 'Your code',
  templateData: { userName: 'Ada', companyName: 'Example', otp: '493817' },
  ...fields,
});

export const attachment = (fields: object = {}): object => ({
  filename: 'note.txt',
  content: Buffer.from('hello').toString('base64'),
  contentType: 'text/plain',
  ...fields,
});

/** Builds a service that doesn't listen. The caller closes the app and runs the shutdown. */
export async function buildApp(
  databaseUrl: string,
  identityUrl: string,
  { log = createLogger('mail', 'silent'), clock = systemClock, ...options }: BuildOptions = {},
) {
  const config = loadMailConfig({
    ...mailEnvironment(databaseUrl, identityUrl),
    ...(options.adminUrl !== undefined && { DATABASE_TIMEOUT_MS: '1000' }),
    ...options.environment,
  });
  const shutdown = createShutdown(log);
  const resources = openResources({
    databaseUrl,
    maxConnections: 6,
    timeoutMs: config.DATABASE_TIMEOUT_MS,
    log,
    shutdown,
  });
  const { queueTimes, resolveHost, tokenEndpoints } = options;
  const service = await buildMail({
    config,
    resources,
    shutdown,
    clock,
    ...(queueTimes && { queueTimes }),
    ...(resolveHost && { resolveHost }),
    ...(tokenEndpoints && { tokenEndpoints }),
  });
  return { app: service.app, config, resources, shutdown };
}

export const waitForRuntime = (app: App) =>
  waitFor(async () => (await app.inject('/health/ready')).statusCode === 200, { what: 'the mail runtime' });

async function startApp(databaseUrl: string, identityUrl: string, options: MailOptions) {
  let written = '';
  const log = createLogger('mail', 'debug', {
    write: (line) => {
      written += line;
    },
  });
  let offsetMs = 0;
  const clock = () => systemClock() + offsetMs;
  const { app, shutdown } = await buildApp(databaseUrl, identityUrl, { ...options, log, clock });
  shutdown.on('http', 'listener', () => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  await waitForRuntime(app);
  return {
    url: `http://127.0.0.1:${port}`,
    shutdown,
    logged: () => written,
    advance: (milliseconds: number) => {
      offsetMs += milliseconds;
    },
  };
}

/** Creates an organisation in the shared identity service, with an administrator who can create tokens and configure SMTP. */
export async function createAdministrator() {
  const { url, organisation } = await testIdentity();
  const { orgId, admin } = await organisation();
  const identity = (method: string, path: string, options?: CallOptions) =>
    callUrl(url + path, method, options);
  const login = await identity('POST', '/api/v1/auth/login', { body: admin });
  const session = login.body.accessToken as string;
  return {
    identityUrl: url,
    identity,
    session,
    orgId,
    async createToken(scopes: readonly string[]): Promise<string> {
      const created = await identity('POST', '/api/v1/personal-access-tokens', {
        token: session,
        body: { name: 'test', scopes },
      });
      return created.body.token.accessToken as string;
    },
  };
}

/** Starts a real mail service with its own database, and an organisation in the identity service that all tests share. */
export async function startMail(options: MailOptions = {}): Promise<MailUnderTest> {
  const administrator = await createAdministrator();
  const { identity, identityUrl, session } = administrator;
  const database = await createMailDatabase(options.adminUrl);
  const running = await startApp(database.url, identityUrl, options);
  const token = await administrator.createToken(['SEND_MAIL', 'FETCH_CONFIG']);
  const db = new pg.Pool({ connectionString: database.url, max: 2 });
  db.on('error', () => undefined);
  const call = (method: string, path: string, callOptions?: CallOptions) =>
    callUrl(running.url + path, method, callOptions);
  return {
    ...administrator,
    ...running,
    databaseUrl: database.url,
    db,
    token,
    call,
    async configure(smtp) {
      const saved = await identity('POST', '/api/v1/configurationManager/smtpConfig', {
        token: session,
        body: smtp,
      });
      if (saved.status !== 200) throw new Error(`smtpConfig responded with ${saved.status}: ${saved.text}`);
      await call('POST', '/api/v1/mail/updateSmtpConfig', { token });
    },
    send: (fields, headers) =>
      call('POST', '/api/v1/mail/emails/sendEmail', {
        token,
        body: emailBody(fields),
        ...(headers && { headers }),
      }),
    stop: () => running.shutdown.run('test asked'),
    async close() {
      await running.shutdown.run('test done');
      await db.end();
      await database.drop();
    },
  };
}
