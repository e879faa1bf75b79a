import { fileURLToPath } from 'node:url';
import { KNOWLEDGE_CLIENT } from './demo/processes.js';

/** The parameters of a service beyond the common ones. */
export interface ServiceContext {
  readonly encryptionKeys: string;
  readonly adminEmail: string;
  readonly adminPassword: string | undefined;
  /** Secrets with which services call identity and one another, by service. */
  readonly clientSecrets: Readonly<Record<string, string>>;
  /** Additional SERVICE_CLIENTS of identity from the launcher's environment. */
  readonly otherClients: string | undefined;
  /** The operator's MCP_SERVER_ALLOWED_TARGETS and the demo server; when undefined, the default holds. */
  readonly mcpServerTargets: string | undefined;
  /** When undefined, the queues are kept in PostgreSQL. */
  readonly redisUrl: string | undefined;
  /** When undefined, events stay in the feed. */
  readonly kafkaBrokers: string | undefined;
  /** Returns the address of a service, which is known before any of them runs. */
  getUrl(service: string): string;
}

/** The format of errors that the gateway sends in place of the service. */
export type ErrorShape = 'standard' | 'crawl';

/** One service of the platform: everything that the launcher and the gateway know about it. */
export interface ServiceDefinition {
  /** Also the name of its database, its log and its documentation. */
  readonly name: string;
  /** Folder with `dist/server.js` and `dist/cli.js`. */
  readonly directory: string;
  /** Paths that the gateway forwards to it, each with everything below. */
  readonly prefixes: readonly string[];
  /** Paths that the gateway forwards to it, without anything below. */
  readonly exact?: readonly string[];
  /** Paths among these for other services only, with everything below; the gateway hides them. */
  readonly internal: readonly string[];
  readonly errorShape: ErrorShape;
  /** Bound of the heap in MiB; without one, V8 lets the heap of a service grow well past what it uses. */
  readonly heapMb: number;
  /** Settings that differ from production on a developer's machine; the launcher's environment overrides them. */
  readonly defaults?: Readonly<Record<string, string>>;
  env(context: ServiceContext): Readonly<Record<string, string>>;
}

const getDirectory = (name: string): string =>
  fileURLToPath(new URL(`../../../services/${name}`, import.meta.url));

const getClient = (name: string, { clientSecrets, encryptionKeys, getUrl }: ServiceContext) => ({
  IDENTITY_URL: getUrl('identity'),
  SERVICE_CLIENT_ID: name,
  SERVICE_CLIENT_SECRET: clientSecrets[name] ?? '',
  ENCRYPTION_KEYS: encryptionKeys,
});

/** What an administrator registers may be on this machine, over plain HTTP. No other deployment allows that by itself. */
const LOOPBACK = '127.0.0.0/8,::1';

const identity: ServiceDefinition = {
  name: 'identity',
  directory: getDirectory('identity'),
  prefixes: [
    '/api/v1/auth',
    '/api/v1/users',
    '/api/v1/sessions',
    '/api/v1/personal-access-tokens',
    '/api/v1/organisation',
    '/api/v1/configurationManager',
    '/api/v1/oauth-applications',
    '/api/v1/service-accounts',
    '/api/v1/connected-apps',
    '/api/v1/activity',
    '/api/v1/audit',
    '/api/v1/events',
    '/api/v1/groups',
    '/api/v1/mcp-servers',
    '/api/v1/knowledge',
    '/api/v1/agents',
    '/oauth2',
    '/oauth2/upstream',
    '/authorize',
    '/token',
    '/register',
    '/mcp',
    '/access/v1',
    '/v0.1/servers',
    '/.well-known',
    '/sign-in',
    '/sign-out',
    // The console's files.
    '/assets',
    '/account',
    '/activity',
    '/connect',
    '/crawls',
    '/guides',
    '/knowledge',
    '/tools',
    '/mails',
    '/organisation',
    // The page of the documentation, and identity's document.
    '/docs',
  ],
  exact: ['/', '/health/live', '/health/ready'],
  internal: ['/api/v1/configurationManager/internal'],
  errorShape: 'standard',
  heapMb: 256,
  defaults: { DESTINATION_ALLOWED_TARGETS: LOOPBACK, MCP_SERVER_ALLOWED_TARGETS: LOOPBACK },
  env: ({
    encryptionKeys,
    adminEmail,
    adminPassword,
    clientSecrets,
    otherClients,
    mcpServerTargets,
    kafkaBrokers,
    getUrl,
  }) => ({
    ENCRYPTION_KEYS: encryptionKeys,
    MAIL_URL: getUrl('mail'),
    CRAWL_URL: getUrl('crawl'),
    SERVICE_CLIENTS: [
      ...Object.entries(clientSecrets).map(([name, secret]) => `${name}:${secret}`),
      ...(otherClients ? [otherClients] : []),
    ].join(),
    ...(mcpServerTargets !== undefined && { MCP_SERVER_ALLOWED_TARGETS: mcpServerTargets }),
    ...(kafkaBrokers !== undefined && { KAFKA_BROKERS: kafkaBrokers }),
    // Without a password there is nothing to create: the first start has created the admin.
    ...(adminPassword !== undefined && {
      BOOTSTRAP_ADMIN_EMAIL: adminEmail,
      BOOTSTRAP_ADMIN_PASSWORD: adminPassword,
    }),
  }),
};

const mail: ServiceDefinition = {
  name: 'mail',
  directory: getDirectory('mail'),
  prefixes: ['/api/v1/mail', '/docs/mail'],
  internal: ['/api/v1/mail/internal'],
  errorShape: 'standard',
  // A mail with 25 MiB of attachments uses about 70 MiB of the heap while its body is read.
  heapMb: 512,
  defaults: {
    // Less than the time that the launcher allows a service to stop.
    SEND_DEADLINE_MS: '15000',
    // The catcher, and any SMTP server on this machine or its local network.
    SMTP_ALLOWED_TARGETS: `${LOOPBACK},10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7`,
  },
  env: (context) => getClient('mail', context),
};

const crawl: ServiceDefinition = {
  name: 'crawl',
  directory: getDirectory('crawl'),
  prefixes: ['/api/v1/crawlingManager', '/docs/crawl'],
  internal: [],
  errorShape: 'crawl',
  heapMb: 256,
  defaults: { ENDPOINT_ALLOWED_TARGETS: LOOPBACK },
  env: (context) => ({
    ...getClient('crawl', context),
    ...(context.redisUrl !== undefined && { REDIS_URL: context.redisUrl }),
    ...(context.kafkaBrokers !== undefined && { KAFKA_BROKERS: context.kafkaBrokers }),
  }),
};

/** All services; they start in any order. */
export const SERVICES: readonly ServiceDefinition[] = [identity, mail, crawl];

/** The services that have a secret with identity, and the search of the demo. */
export const CLIENTS: readonly string[] = [mail.name, crawl.name, KNOWLEDGE_CLIENT];
