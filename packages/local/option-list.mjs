// The options of `npm start`, how `--help` shows them, and how they are read from a command line. Plain JavaScript
// without dependencies, like options.mjs.
import { parseArgs } from 'node:util';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

export class OptionsError extends Error {}

/** Flag, environment variable, description and default of each option with a value. */
export const VALUES = [
  ['port', 'PORT', 'port of the gateway', '8080'],
  ['host', 'HOST', 'address of the gateway; 0.0.0.0 for every interface', '127.0.0.1'],
  ['data-dir', 'DATA_DIR', 'folder of the database, the secrets and the logs', '.data'],
  ['admin-email', 'BOOTSTRAP_ADMIN_EMAIL', 'e-mail of the first admin', 'admin@example.com'],
  ['admin-password', 'BOOTSTRAP_ADMIN_PASSWORD', 'password of the first admin', 'generated, and kept'],
  ['database-url', 'DATABASE_URL', 'PostgreSQL server to use', 'an embedded one'],
  ['redis-url', 'REDIS_URL', 'Redis for the job queues', 'they are kept in PostgreSQL'],
  ['kafka-brokers', 'KAFKA_BROKERS', 'host:port, comma-separated: where events go', 'the feed only'],
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
  ${column('--demo-folder <folder>')}crawl these Markdown, HTML and text files; by default docs/
  ${column('--demo-repository <path or URL>')}crawl this Git repository; by default this clone
  ${column('--no-demo')}crawl nothing, and mount no search
  ${column('--fresh')}delete the data folder first
  ${column('--help')}this text

A flag wins over its environment variable. The services get the rest of the environment too,
for example MCP_SCOPES, KAFKA_TOPIC or BOOTSTRAP_ORG_NAME. Stop with Ctrl-C; the data stays.
`;

export function readFlags(args) {
  const named = VALUES.map(([flag]) => [flag, { type: 'string' }]);
  const options = {
    ...Object.fromEntries(named),
    fresh: { type: 'boolean' },
    'demo-folder': { type: 'string' },
    'demo-repository': { type: 'string' },
    'no-demo': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  };
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new OptionsError(`${error.message.split('. ')[0]}; npm start -- --help lists the options`);
  }
}
