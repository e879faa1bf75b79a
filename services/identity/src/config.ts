import { DEFAULT_TOKEN_PREFIX, platformVariables } from '@platform/auth';
import { facts, findKafkaContradictions, kafkaVariables } from '@platform/events';
import {
  type BoxKey,
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
import {
  DEFAULT_MCP_SCOPES,
  DEFAULT_CLIENT_HOSTS,
  clientHosts,
  defaultScopes,
  serviceClients,
  password,
  tokenPrefix,
  emailAddress,
  organisationName,
} from './base/config-values.js';

const databaseUrl = url(['postgres:', 'postgresql:'], 'postgresql://user:password@host:5432/identity');

export const loadAdminPassword = (env: NodeJS.ProcessEnv): string =>
  loadConfig(env, { ADMIN_PASSWORD: password }).ADMIN_PASSWORD;

export const loadEncryptionKeys = (env: NodeJS.ProcessEnv): readonly BoxKey[] =>
  loadConfig(env, { ENCRYPTION_KEYS: encryptionKeys }).ENCRYPTION_KEYS;

/** Loads the configuration of the commands that only use the database. */
export const loadDatabaseConfig = (env: NodeJS.ProcessEnv) =>
  loadConfig(env, { DATABASE_URL: databaseUrl, DATABASE_TIMEOUT_MS: serviceVariables.DATABASE_TIMEOUT_MS });

/** The environment variables that the service reads. */
export const identityVariables = {
  ...serviceVariables,
  DATABASE_URL: databaseUrl,
  DATABASE_CONNECTIONS_MAX: withDefault(integer(1, 200), 10),
  ENCRYPTION_KEYS: encryptionKeys,
  /** Whether this process serves `/mcp` and asks mounted servers, does everything else, or both. */
  ROLE: withDefault(oneOf('main', 'mcp', 'all'), 'all' as const),
  ...platformVariables,
  /** The URL of the mail service. Without it, no invitations, codes or links are sent. */
  MAIL_URL: withDefault(url(['http:', 'https:'], 'http://mail:3002'), undefined),
  /** The URL of the crawl service. Without it, there are no crawl tools. */
  CRAWL_URL: withDefault(url(['http:', 'https:'], 'http://crawl:3003'), undefined),
  /** The timeout of a remote tool's calls to the crawl service. */
  TOOL_TIMEOUT_MS: withDefault(integer(100, 600_000), 30_000),
  /** The timeout of a remote tool's calls to the mail service, which may itself wait a minute for an SMTP server. */
  MAIL_TOOL_TIMEOUT_MS: withDefault(integer(100, 600_000), 70_000),
  /** The number of connections that remote tools open to mail, and to crawl. One organisation can use a quarter of them. */
  TOOL_CONNECTIONS: withDefault(integer(4, 10_000), 128),
  /** The time for which a remote tool waits for a run to end when the client asks for it. */
  TOOL_WAIT_MAX_MS: withDefault(integer(1_000, 3_600_000), 600_000),
  /** Concurrent tool calls that wait for a run, per replica (one organisation can have a quarter) and per credential. */
  TOOL_WAITS: withDefault(integer(1, 100_000), 200),
  TOOL_WAITS_PER_CREDENTIAL: withDefault(integer(1, 10_000), 10),
  /** Requests to `/mcp` per credential and replica. */
  MCP_REQUESTS_PER_MINUTE: withDefault(integer(1, 10_000_000), 6_000),
  /**
   * Targets of MCP servers that are allowed in addition to public addresses with TLS: private networks, and servers
   * without TLS.
   */
  MCP_SERVER_ALLOWED_TARGETS: withDefault(
    parsedList('addresses, CIDR ranges and host names, each with :port or without', parseTarget),
    [],
  ),
  /** Targets of organisations' identity providers that are allowed in addition to public addresses with TLS. */
  IDENTITY_PROVIDER_ALLOWED_TARGETS: withDefault(
    parsedList('addresses, CIDR ranges and host names, each with :port or without', parseTarget),
    [],
  ),
  /** Targets of webhooks, logs and events that are allowed in addition to public addresses with TLS. */
  DESTINATION_ALLOWED_TARGETS: withDefault(
    parsedList('addresses, CIDR ranges and host names, each with :port or without', parseTarget),
    [],
  ),
  /** With brokers, facts are published to Kafka, too. */
  ...kafkaVariables,
  KAFKA_FACTS_TOPIC: withDefault(text('the name of a topic'), facts.topic),
  /** The timeout of a call of a mounted tool. */
  MCP_SERVER_TIMEOUT_MS: withDefault(integer(100, 600_000), 60_000),
  /** Concurrent calls of mounted tools, per replica. One organisation can have a quarter, each of its servers an eighth. */
  MCP_SERVER_CALLS: withDefault(integer(8, 10_000), 256),
  /** The interval at which the tools of each MCP server are looked up. */
  MCP_SERVER_REFRESH_MS: withDefault(integer(1_000, 86_400_000), 300_000),
  /** The number of days for which the records of tool calls are kept. */
  TOOL_CALL_DAYS: withDefault(integer(1, 3_650), 90),
  /** The number of days for which the audit is kept. The database refuses to delete entries of the last 30 days. */
  AUDIT_DAYS: withDefault(integer(30, 36_500), 730),
  /** The web app that mailed links lead to. Without one, they lead to this service's own pages. */
  APP_URL: withDefault(url(['http:', 'https:'], 'https://app.example.com'), undefined),
  /** The prefix with which personal access tokens are shown. Tokens with another prefix stay valid. */
  TOKEN_PREFIX: withDefault(tokenPrefix, DEFAULT_TOKEN_PREFIX),
  MCP_SCOPES: withDefault(defaultScopes, DEFAULT_MCP_SCOPES),
  /** The hosts whose documents describe OAuth clients. */
  OAUTH_CLIENT_HOSTS: withDefault(clientHosts, DEFAULT_CLIENT_HOSTS),
  /** Whether OAuth clients may register themselves. Anyone can, under any name. */
  OAUTH_REGISTRATION: withDefault(oneOf('on', 'off'), 'off'),
  SERVICE_CLIENTS: withDefault(serviceClients, []),
  /** The client id of the mail service, which alone may fetch SMTP configurations and report mails. */
  CONFIG_CLIENT_ID: withDefault(text('the client id of the mail service'), 'mail'),
  /** The client id of the crawl service, which alone reports facts for the audit. */
  CRAWL_CLIENT_ID: withDefault(text('the client id of the crawl service'), 'crawl'),
  BOOTSTRAP_ORG_NAME: withDefault(organisationName, 'My organisation'),
  BOOTSTRAP_ADMIN_EMAIL: withDefault(emailAddress, undefined),
  BOOTSTRAP_ADMIN_PASSWORD: withDefault(password, undefined),
} as const;

const hasDuplicateIds = (items: readonly { readonly id: string }[] = []): boolean =>
  new Set(items.map(({ id }) => id)).size < items.length;

function findContradictions(values: Partial<Values<typeof identityVariables>>): string[] {
  const faults = findKafkaContradictions(values);
  const { BOOTSTRAP_ADMIN_EMAIL: email, BOOTSTRAP_ADMIN_PASSWORD: adminPassword } = values;
  const areBothRight = 'BOOTSTRAP_ADMIN_EMAIL' in values && 'BOOTSTRAP_ADMIN_PASSWORD' in values;
  if (areBothRight && (email === undefined) !== (adminPassword === undefined))
    faults.push('BOOTSTRAP_ADMIN_EMAIL and BOOTSTRAP_ADMIN_PASSWORD go together: set both, or neither');
  for (const name of ['ENCRYPTION_KEYS', 'SERVICE_CLIENTS'] as const)
    if (hasDuplicateIds(values[name])) faults.push(`${name} must name each id once`);
  return faults;
}

export const loadIdentityConfig = (env: NodeJS.ProcessEnv) =>
  loadConfig(env, identityVariables, findContradictions);

export type IdentityConfig = ReturnType<typeof loadIdentityConfig>;
