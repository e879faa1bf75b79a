// The options of `npm start`. Plain JavaScript without dependencies: `--help` and invalid options are handled before
// anything is installed or built.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOG_LEVELS, OptionsError, readFlags, VALUES } from './option-list.mjs';
import { isDatabaseUrl, isFolder, isPort, isProxyRange } from './option-rules.mjs';

const ROOT = resolve(fileURLToPath(import.meta.url), '../../..');

export { HELP, OptionsError } from './option-list.mjs';

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
  const kafkaBrokers = given('kafka-brokers');
  if (kafkaBrokers !== undefined && !/^[\w.-]+:\d+(\s*,\s*[\w.-]+:\d+)*$/.test(kafkaBrokers)) {
    faults.push(`--kafka-brokers (KAFKA_BROKERS) must be like host1:9092,host2:9092, not "${kafkaBrokers}"`);
  }
  const demo = flags['no-demo'] ? undefined : readDemo(flags);
  if (flags['no-demo'] && (flags['demo-folder'] ?? flags['demo-repository']) !== undefined) {
    faults.push('--no-demo leaves out what --demo-folder and --demo-repository name: give one or the other');
  }
  if (demo && !isFolder(demo.folder)) {
    faults.push(`--demo-folder must be a folder of Markdown, HTML or text files, not "${demo.folder}"`);
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
    ...(demo && { demo }),
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

/** By default the demo crawls this repository: its documentation, and its code where it is a clone. */
function readDemo(flags) {
  const isDefault = !flags['demo-folder'];
  const folder = resolve(ROOT, flags['demo-folder'] || 'docs');
  const named = flags['demo-repository'] || undefined;
  // Neither a URL nor the short form of SSH, as in git@example.com:team/project.git.
  const isPath = named !== undefined && !/^[a-z][a-z\d+.-]*:\/\/|^[^/]+:/i.test(named);
  if (named !== undefined) return { folder, repository: isPath ? resolve(ROOT, named) : named, isDefault };
  const isClone = existsSync(join(ROOT, '.git')) && flags['demo-folder'] === undefined;
  return { folder, repository: isClone && hasGit() ? ROOT : undefined, isDefault };
}

const hasGit = () => spawnSync('git', ['--version'], { stdio: 'ignore' }).status === 0;
