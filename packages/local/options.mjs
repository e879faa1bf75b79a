// The options of `npm start`. Plain JavaScript without dependencies: `--help` and invalid options are handled before
// anything is installed or built.
import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = resolve(fileURLToPath(import.meta.url), '../../..');
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

export class OptionsError extends Error {}

const VALUES = [
  ['port', 'PORT', 'port of the gateway', '8080'],
  ['host', 'HOST', 'address of the gateway; 0.0.0.0 for every interface', '127.0.0.1'],
  ['data-dir', 'DATA_DIR', 'folder of the database, the secrets and the logs', '.data'],
  ['admin-email', 'BOOTSTRAP_ADMIN_EMAIL', 'e-mail of the first admin', 'admin@example.com'],
  ['admin-password', 'BOOTSTRAP_ADMIN_PASSWORD', 'password of the first admin', 'generated, and kept'],
  ['database-url', 'DATABASE_URL', 'PostgreSQL server to use', 'an embedded one'],
  ['redis-url', 'REDIS_URL', 'Redis for the job queues', 'they are kept in PostgreSQL'],
  ['kafka-brokers', 'KAFKA_BROKERS', 'host:port, comma-separated: where sync events go', 'the feed only'],
  ['smtp-catcher-port', 'SMTP_CATCHER_PORT', 'port of the SMTP server that catches all mail', '1025'],
  ['inbox-port', 'INBOX_PORT', 'port of the web page of the mail that was caught', '8025'],
  [
    'public-url',
    'PUBLIC_URL',
    'base URL that the answers and the printed lines name',
    'http://localhost:<port>',
  ],
  [
    'trusted-proxies',
    'GATEWAY_TRUSTED_PROXIES',
    'proxies whose X-Forwarded-For and -Proto the gateway believes',
    'none',
  ],
  ['log-level', 'LOG_LEVEL', LOG_LEVELS.join(', '), 'info'],
];

const column = (text) => text.padEnd(36);
const rows = VALUES.map(
  ([flag, variable, what, initial]) =>
    `  ${column(`--${flag} <${flag.split('-').at(-1)}>`)}${what}\n  ${column(`    or ${variable}`)}default: ${initial}`,
);

export const HELP = `Starts the whole platform on this machine: database, services, gateway, and an inbox that catches its mail.

Usage: npm start -- [options]

${rows.join('\n')}
  ${column('--redis')}keep the job queues in an embedded Redis (or Valkey)
  ${column('--demo-knowledge [folder]')}let agents search a folder of Markdown files; by default docs/
  ${column('--fresh')}delete the data folder first
  ${column('--help')}this text

A flag wins over its environment variable. The services get the rest of the environment too,
for example MCP_SCOPES, KAFKA_TOPIC or BOOTSTRAP_ORG_NAME. Stop with Ctrl-C; the data stays.
`;

export function parseOptions(args, environment) {
  const flags = readFlags(args);
  if (flags.help) return 'help';
  const faults = [];
  const read = (flag) => {
    const [, variable, , initial] = VALUES.find(([name]) => name === flag);
    const [value, source] =
      flags[flag] === undefined ? [environment[variable], variable] : [flags[flag], `--${flag}`];
    // An empty variable is how shells and Compose files say "not set".
    return value === undefined || value.trim() === ''
      ? { value: initial, source }
      : { value: value.trim(), source };
  };
  const check = (flag, isValid, rule) => {
    const { value, source } = read(flag);
    if (!isValid(value)) faults.push(`${source} must be ${rule}, not "${value}"`);
    return value;
  };
  const given = (flag) =>
    (flags[flag] ?? environment[VALUES.find(([name]) => name === flag)[1]]) || undefined;

  const adminPassword = given('admin-password');
  const databaseUrl = given('database-url');
  const publicUrl = given('public-url');
  if (publicUrl !== undefined && !/^https?:\/\/[^/?#]+\/?$/.test(publicUrl)) {
    faults.push(`--public-url (PUBLIC_URL) must be like https://platform.example.com, not "${publicUrl}"`);
  }
  if (databaseUrl !== undefined && !isDatabaseUrl(databaseUrl)) {
    // The value is not shown, because it may contain a password.
    faults.push('--database-url (DATABASE_URL) must be like postgresql://user:password@host:5432/database');
  }
  if (databaseUrl !== undefined && flags.fresh) {
    faults.push(
      '--fresh deletes the keys that the database of --database-url needs; use another --data-dir instead',
    );
  }
  const redisUrl = given('redis-url');
  if (redisUrl !== undefined && !/^rediss?:\/\/[^/]/.test(redisUrl)) {
    faults.push('--redis-url (REDIS_URL) must be like redis://:password@host:6379/0');
  }
  if (redisUrl !== undefined && flags.redis) {
    faults.push('--redis starts a server, and --redis-url (REDIS_URL) names one: give one of them');
  }
  const kafkaBrokers = given('kafka-brokers');
  if (kafkaBrokers !== undefined && !/^[\w.-]+:\d+(\s*,\s*[\w.-]+:\d+)*$/.test(kafkaBrokers)) {
    faults.push(`--kafka-brokers (KAFKA_BROKERS) must be like host1:9092,host2:9092, not "${kafkaBrokers}"`);
  }
  const knowledgeFolder =
    flags['demo-knowledge'] === undefined ? undefined : resolve(ROOT, flags['demo-knowledge'] || 'docs');
  if (knowledgeFolder !== undefined && !isFolder(knowledgeFolder)) {
    faults.push(`--demo-knowledge must be followed by a folder of Markdown files, not "${knowledgeFolder}"`);
  }
  const trustedProxies = (given('trusted-proxies') ?? '').split(/[\s,]+/).filter(Boolean);
  if (!trustedProxies.every(isProxyRange)) {
    faults.push(
      '--trusted-proxies (GATEWAY_TRUSTED_PROXIES) must be addresses or CIDR ranges of proxies, comma-separated',
    );
  }
  const [port, smtpCatcherPort, inboxPort] = ['port', 'smtp-catcher-port', 'inbox-port'].map((flag) =>
    Number(check(flag, isPort, 'a port between 1 and 65535')),
  );
  if (new Set([port, smtpCatcherPort, inboxPort]).size < 3) {
    faults.push('--port, --smtp-catcher-port and --inbox-port must be three ports');
  }
  const options = {
    port,
    smtpCatcherPort,
    inboxPort,
    host: check('host', (value) => /^[\w.:-]+$/.test(value), 'a host name or an address'),
    publicUrl: publicUrl?.replace(/\/$/, '') ?? `http://localhost:${port}`,
    dataDir:
      flags['data-dir'] || environment.DATA_DIR ? resolve(read('data-dir').value) : resolve(ROOT, '.data'),
    isFresh: flags.fresh ?? false,
    isRedisEmbedded: flags.redis ?? false,
    ...(knowledgeFolder !== undefined && { knowledgeFolder }),
    trustedProxies,
    ...(given('admin-email') && {
      adminEmail: check('admin-email', (value) => /^[^\s@]+@[^\s@]+$/.test(value), 'an e-mail address'),
    }),
    logLevel: check('log-level', (value) => LOG_LEVELS.includes(value), `one of ${LOG_LEVELS.join(', ')}`),
    ...(adminPassword !== undefined && { adminPassword }),
    ...(databaseUrl !== undefined && { databaseUrl }),
    ...(redisUrl !== undefined && { redisUrl }),
    ...(kafkaBrokers !== undefined && { kafkaBrokers }),
    environment,
  };
  if (faults.length > 0) throw new OptionsError(faults.join('; '));
  return options;
}

function readFlags(args) {
  const named = VALUES.map(([flag]) => [flag, { type: 'string' }]);
  const options = {
    ...Object.fromEntries(named),
    fresh: { type: 'boolean' },
    redis: { type: 'boolean' },
    'demo-knowledge': { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  };
  try {
    return parseArgs({ args: args.map(toOptionalValue), options, strict: true, allowPositionals: false })
      .values;
  } catch (error) {
    throw new OptionsError(`${error.message.split('. ')[0]}; npm start -- --help lists the options`);
  }
}

/** The folder of --demo-knowledge is optional, which parseArgs does not support. */
function toOptionalValue(arg, index, args) {
  const next = args[index + 1];
  return arg === '--demo-knowledge' && (next === undefined || next.startsWith('-')) ? `${arg}=` : arg;
}

const isFolder = (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
const isPort = (value) => /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535;

/** Accepts an address or a CIDR range, but not one that contains every address. */
function isProxyRange(value) {
  const [address, bits, ...rest] = value.split('/');
  const family = isIP(address);
  const isRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1);
  return family !== 0 && rest.length === 0 && isRange && Number(bits ?? 1) <= (family === 4 ? 32 : 128);
}

function isDatabaseUrl(value) {
  return (
    URL.canParse(value) && /^postgres(ql)?:$/.test(new URL(value).protocol) && new URL(value).hostname !== ''
  );
}
