import { fileURLToPath } from 'node:url';

/** What a service is started with, beyond what every service gets. */
export interface ServiceContext {
  readonly encryptionKeys: string;
  readonly adminEmail: string;
  readonly adminPassword: string | undefined;
  /** Secrets with which services call identity and one another, by service. */
  readonly clientSecrets: Readonly<Record<string, string>>;
  /** More of identity's SERVICE_CLIENTS, given by whoever starts the platform. */
  readonly otherClients: string | undefined;
  /** Undefined: BullMQ keeps its queues in PostgreSQL. */
  readonly redisUrl: string | undefined;
  /** Undefined: events stay in the feed. */
  readonly kafkaBrokers: string | undefined;
  /** Where a service listens, known before any of them runs. */
  getUrl(service: string): string;
}

/** How a client of the service expects an error that the gateway gives in its place. */
export type ErrorShape = 'standard' | 'crawl';

/** One service of the platform: everything that the launcher and the gateway know about it. */
export interface ServiceDefinition {
  /** Also the name of its database, its log and its documentation. */
  readonly name: string;
  /** Folder with `dist/server.js` and `dist/cli.js`. */
  readonly directory: string;
  /** Paths that the gateway gives to it, each with everything below. */
  readonly prefixes: readonly string[];
  /** What of these is for other services only, with everything below: the gateway has no such paths. */
  readonly internal: readonly string[];
  readonly errorShape: ErrorShape;
  /** Bound of the heap in MiB; without one, V8 lets the heap of a service grow well past what it uses. */
  readonly heapMb: number;
  /** What a machine of one's own differs in from production; the launcher's environment may say otherwise. */
  readonly defaults?: Readonly<Record<string, string>>;
  env(context: ServiceContext): Readonly<Record<string, string>>;
}

const getDirectory = (name: string): string =>
  fileURLToPath(new URL(`../../../services/${name}`, import.meta.url));

const getClient = (name: string, { clientSecrets, getUrl }: ServiceContext) => ({
  IDENTITY_URL: getUrl('identity'),
  SERVICE_CLIENT_ID: name,
  SERVICE_CLIENT_SECRET: clientSecrets[name] ?? '',
});

const identity: ServiceDefinition = {
  name: 'identity',
  directory: getDirectory('identity'),
  prefixes: [
    '/api/v1/auth',
    '/api/v1/users',
    '/api/v1/personal-access-tokens',
    '/api/v1/configurationManager',
    '/api/v1/oauth2',
    '/api/v1/audit',
    '/mcp',
    '/.well-known',
  ],
  internal: ['/api/v1/configurationManager/internal', '/api/v1/oauth2/introspect', '/api/v1/oauth2/token'],
  errorShape: 'standard',
  heapMb: 256,
  env: ({ encryptionKeys, adminEmail, adminPassword, clientSecrets, otherClients, getUrl }) => ({
    ENCRYPTION_KEYS: encryptionKeys,
    MAIL_URL: getUrl('mail'),
    CRAWL_URL: getUrl('crawl'),
    SERVICE_CLIENTS: [
      ...Object.entries(clientSecrets).map(([name, secret]) => `${name}:${secret}`),
      ...(otherClients ? [otherClients] : []),
    ].join(),
    // Without a password the admin is made: it was, at the first start.
    ...(adminPassword !== undefined && {
      BOOTSTRAP_ADMIN_EMAIL: adminEmail,
      BOOTSTRAP_ADMIN_PASSWORD: adminPassword,
    }),
  }),
};

const mail: ServiceDefinition = {
  name: 'mail',
  directory: getDirectory('mail'),
  prefixes: ['/api/v1/mail'],
  internal: ['/api/v1/mail/internal'],
  errorShape: 'standard',
  // A mail with 25 MiB of attachments takes about 70 MiB of it while its body is read.
  heapMb: 512,
  defaults: {
    // Less than the launcher gives a service to stop.
    SEND_DEADLINE_MS: '15000',
    // The catcher, and whatever SMTP server runs on this machine or beside it.
    SMTP_ALLOWED_TARGETS: '127.0.0.0/8,::1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7',
  },
  env: (context) => getClient('mail', context),
};

const crawl: ServiceDefinition = {
  name: 'crawl',
  directory: getDirectory('crawl'),
  prefixes: ['/api/v1/crawlingManager'],
  internal: [],
  errorShape: 'crawl',
  heapMb: 256,
  env: (context) => ({
    ...getClient('crawl', context),
    ...(context.redisUrl !== undefined && { REDIS_URL: context.redisUrl }),
    ...(context.kafkaBrokers !== undefined && { KAFKA_BROKERS: context.kafkaBrokers }),
  }),
};

/** They start in any order. */
export const SERVICES: readonly ServiceDefinition[] = [identity, mail, crawl];

/** The services that have a secret with identity. */
export const CLIENTS: readonly string[] = [mail.name, crawl.name];
