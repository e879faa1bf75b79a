import {
  integer,
  loadConfig,
  serviceVariables,
  text,
  url,
  type Variable,
  withDefault,
} from '@platform/service-kit';

const databaseUrl = url(['postgres:', 'postgresql:'], 'postgresql://user:password@host:5432/mail');

const clientSecret: Variable<string> = {
  mustBe: "this service's secret in identity's SERVICE_CLIENTS: 32 characters or more",
  parse: (value) => (value.length >= 32 && value.length <= 256 ? value : undefined),
};

/** What the commands need that only touch the database. */
export const loadDatabaseConfig = (env: NodeJS.ProcessEnv) => loadConfig(env, { DATABASE_URL: databaseUrl });

/** Everything that the service reads from its environment. */
export const mailVariables = {
  ...serviceVariables,
  DATABASE_URL: databaseUrl,
  DATABASE_CONNECTIONS_MAX: withDefault(integer(1, 200), 6),
  IDENTITY_URL: url(['http:', 'https:'], 'http://identity:3001'),
  /** Where SMTP configurations come from; identity keeps them unless an external manager does. */
  CONFIG_MANAGER_URL: withDefault(url(['http:', 'https:'], 'http://identity:3001'), undefined),
  SERVICE_CLIENT_ID: withDefault(text('a client id of SERVICE_CLIENTS'), 'mail'),
  SERVICE_CLIENT_SECRET: clientSecret,
  TOKEN_ISSUER: withDefault(text('the "iss" of credentials, as in identity'), 'workspace-platform'),
  /** Its host name is how this client introduces itself to SMTP servers (EHLO). */
  PUBLIC_URL: withDefault(url(['http:', 'https:'], 'https://knowledge.example.com'), 'http://127.0.0.1:8080'),
  SMTP_POOLS_MAX: withDefault(integer(1, 10_000), 1_000),
  SMTP_CONNECTIONS_PER_POOL: withDefault(integer(1, 100), 5),
  SMTP_IDLE_MS: withDefault(integer(1_000, 3_600_000), 60_000),
  SMTP_TIMEOUT_MS: withDefault(integer(100, 600_000), 30_000),
  SMTP_CONFIG_MAX_AGE_MS: withDefault(integer(0, 3_600_000), 60_000),
  /** Idempotency keys last a day: what they answer is there at least as long. */
  UNSENT_MAILS_KEPT_DAYS: withDefault(integer(1, 3_650), 30),
  SENDS_MAX: withDefault(integer(1, 10_000), 500),
  SENDS_PER_ORG_MAX: withDefault(integer(1, 10_000), 200),
} as const;

export function loadMailConfig(env: NodeJS.ProcessEnv) {
  const values = loadConfig(env, mailVariables, ({ SENDS_PER_ORG_MAX = 0, SENDS_MAX = Infinity }) =>
    SENDS_PER_ORG_MAX > SENDS_MAX ? ['SENDS_PER_ORG_MAX must not exceed SENDS_MAX'] : [],
  );
  return Object.freeze({ ...values, CONFIG_MANAGER_URL: values.CONFIG_MANAGER_URL ?? values.IDENTITY_URL });
}

export type MailConfig = ReturnType<typeof loadMailConfig>;
