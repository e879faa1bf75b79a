import { identityClientVariables } from '@platform/auth';
import {
  encryptionKeys,
  integer,
  loadConfig,
  parsedList,
  parseTarget,
  type RangeTarget,
  serviceVariables,
  url,
  type Variable,
  withDefault,
} from '@platform/service-kit';

const databaseUrl = url(['postgres:', 'postgresql:'], 'postgresql://user:password@host:5432/mail');

const parseDenied = (item: string): RangeTarget | undefined => {
  const target = parseTarget(item);
  return target?.kind === 'range' ? target : undefined;
};

/** RFC 5321 §4.1.1.1 allows a domain or an address literal. */
const clientName: Variable<string> = {
  mustBe: 'a host name, or an address literal such as [192.0.2.1]',
  parse: (value) => (/^(?:[\w-]+(?:\.[\w-]+)*|\[[\w.:]+\])$/.test(value) ? value : undefined),
};

/**
 * Stays below every timeout in front of it: the shutdown's phase for requests (65 s), identity's tools
 * (MAIL_TOOL_TIMEOUT_MS, 70 s) and the gateways (75 s). Clients with more time send `Prefer: respond-async`.
 */
const MAX_SEND_DEADLINE_MS = 60_000;

/** The connections of the journal: one each for what is stored, begun and ended. */
export const JOURNAL_CONNECTIONS = 3;

/** Every environment variable that the service reads. */
export const mailVariables = {
  ...serviceVariables,
  DATABASE_URL: databaseUrl,
  DATABASE_CONNECTIONS_MAX: withDefault(integer(JOURNAL_CONNECTIONS + 1, 200), 6),
  ...identityClientVariables('mail'),
  /** What seals requests and contents of mails, their attachments, and access tokens of SMTP servers. */
  ENCRYPTION_KEYS: encryptionKeys,
  /** The service that stores the SMTP configurations. It is identity unless an external manager is used. */
  CONFIG_MANAGER_URL: withDefault(url(['http:', 'https:'], 'http://identity:3001'), undefined),
  /** The name in EHLO. It defaults to the host of PUBLIC_URL, or else to this machine's name. */
  SMTP_CLIENT_NAME: withDefault(clientName, undefined),
  SMTP_POOLS_MAX: withDefault(integer(1, 10_000), 1_000),
  SMTP_CONNECTIONS_PER_POOL: withDefault(integer(1, 100), 5),
  SMTP_IDLE_MS: withDefault(integer(1_000, 3_600_000), 60_000),
  SMTP_TIMEOUT_MS: withDefault(integer(100, 600_000), 30_000),
  /** Targets that are allowed in addition to public addresses on SMTP_ALLOWED_PORTS, such as private networks. */
  SMTP_ALLOWED_TARGETS: withDefault(
    parsedList('addresses, CIDR ranges and host names, each with :port or without', parseTarget),
    [],
  ),
  SMTP_DENIED_TARGETS: withDefault(
    parsedList('addresses and CIDR ranges, each with :port or without', parseDenied),
    [],
  ),
  SMTP_ALLOWED_PORTS: withDefault(
    parsedList('ports from 1 to 65535', (item) => integer(1, 65_535).parse(item)),
    [25, 465, 587, 2525],
  ),
  /** Where token URLs of SMTP configurations may be, beyond public addresses with TLS; here they may be http. */
  SMTP_TOKEN_ALLOWED_TARGETS: withDefault(
    parsedList('addresses, CIDR ranges and host names, each with :port or without', parseTarget),
    [],
  ),
  SMTP_CONFIG_MAX_AGE_MS: withDefault(integer(0, 3_600_000), 60_000),
  /** The time limit of a request to send, including the upload of its body. Every timeout in front of it is longer. */
  SEND_DEADLINE_MS: withDefault(integer(1_000, MAX_SEND_DEADLINE_MS), MAX_SEND_DEADLINE_MS),
  /** The retention of all mails; 0 keeps them, and the addresses in them, for ever. */
  RECORDS_KEPT_DAYS: withDefault(integer(0, 36_500), 400),
  /** At least one day, so that the result of an idempotency key outlives the key. */
  UNSENT_MAILS_KEPT_DAYS: withDefault(integer(1, 3_650), 30),
  SENDS_MAX: withDefault(integer(1, 10_000), 500),
  SENDS_PER_ORG_MAX: withDefault(integer(1, 10_000), 200),
  /** The most mails of one organisation in the queue, apart from codes and notices. */
  QUEUED_PER_ORG_MAX: withDefault(integer(1, 10_000_000), 10_000),
  QUEUED_MIB_PER_ORG_MAX: withDefault(integer(1, 1_000_000), 1_024),
} as const;

export function loadMailConfig(env: NodeJS.ProcessEnv) {
  const values = loadConfig(env, mailVariables, ({ SENDS_PER_ORG_MAX = 0, SENDS_MAX = Infinity }) =>
    SENDS_PER_ORG_MAX > SENDS_MAX ? ['SENDS_PER_ORG_MAX must not exceed SENDS_MAX'] : [],
  );
  return Object.freeze({ ...values, CONFIG_MANAGER_URL: values.CONFIG_MANAGER_URL ?? values.IDENTITY_URL });
}

export type MailConfig = ReturnType<typeof loadMailConfig>;
