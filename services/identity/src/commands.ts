import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  AppError,
  assertMigrated,
  createLogger,
  createShutdown,
  describeVariables,
  migrate,
  systemClock,
} from '@platform/service-kit';
import { validate as isUuid } from 'uuid';
import {
  identityVariables,
  isEmailAddress,
  isOrganisationName,
  loadAdminPassword,
  loadDatabaseConfig,
  loadEncryptionKeys,
  loadIdentityConfig,
} from './config.js';
import { makeAdministrator } from './features/organisations/administrators.js';
import { createOrganisationService } from './features/organisations/service.js';
import { deleteMailsTo } from './features/outgoing-mails/queries.js';
import { createPasswords } from './features/sessions/passwords.js';
import { reencryptAll } from './features/re-encryption/command.js';
import { describeKeys, removeSigningKey, rotateKey } from './features/signing-keys/commands.js';
import { normaliseEmail } from './features/users/service.js';
import { openResources, type Resources } from './resources.js';
import { createSecretBox } from './secret-box.js';

const migrationsFolder = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

const usage = `identity <command>

  migrate                       apply the database migrations that are missing
  config                        every variable, and what is wrong with the environment
  create-organisation           --name <name> --admin-email <address>
                                (the password comes from ADMIN_PASSWORD)
  make-administrator            --email <address> [--organisation <id>]
                                makes a member an administrator with a new password (from ADMIN_PASSWORD),
                                or adds one to the organisation; for when nobody can log in any more. The
                                account's sessions end, its tokens stay, and the audit says so
  keys list                     the signing keys, the newest first
  keys rotate [--force]         publish a new signing key; it signs from 20 seconds later on; with
                                --force also when ENCRYPTION_KEYS are lost, and then at once
  keys remove <id> [--force]    refuse what a key signed; without --force only when no active
                                token is signed with it
  erase-mails <address>         delete what waits to be mailed to an address; what was mailed is in the
                                mail service (DELETE /api/v1/mail/records?recipient=...)
  reseal                        seal what is stored with the first of ENCRYPTION_KEYS; then the
                                others can be left out

The database is DATABASE_URL; the keys commands and reseal need ENCRYPTION_KEYS as well.
`;

class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Opens what a command needs, and closes it whatever happens. */
async function withResources(run: (resources: Resources) => Promise<void>): Promise<void> {
  const { DATABASE_URL: databaseUrl, DATABASE_TIMEOUT_MS: timeoutMs } = loadDatabaseConfig(process.env);
  const log = createLogger('identity', 'warn');
  const shutdown = createShutdown(log);
  const resources = openResources({ databaseUrl, maxConnections: 2, timeoutMs, log, shutdown });
  try {
    await assertMigrated(resources.pool, migrationsFolder, log);
    await run(resources);
  } finally {
    await shutdown.run('command done');
  }
}

async function runMigrate(): Promise<void> {
  const { DATABASE_URL: databaseUrl } = loadDatabaseConfig(process.env);
  const applied = await migrate(databaseUrl, migrationsFolder, createLogger('identity', 'warn'));
  process.stdout.write(applied.length > 0 ? `applied: ${applied.join(', ')}\n` : 'nothing to apply\n');
}

async function runCreateOrganisation(
  name: string | undefined,
  adminEmail: string | undefined,
): Promise<void> {
  if (!name || !adminEmail) throw new UsageError('create-organisation needs --name and --admin-email');
  if (!isOrganisationName(name)) throw new UsageError('--name must be a name of 1 to 200 visible characters');
  if (!isEmailAddress(adminEmail)) throw new UsageError('--admin-email must be an e-mail address');
  const adminPassword = loadAdminPassword(process.env);
  await withResources(async ({ prisma }) => {
    const organisations = createOrganisationService({
      prisma,
      passwords: createPasswords(),
      clock: systemClock,
    });
    const { orgId, adminId } = await organisations.create({ name, adminEmail, adminPassword });
    process.stdout.write(`organisation ${orgId}, administrator ${adminId}\n`);
  });
}

async function runMakeAdministrator(email: string | undefined, orgId: string | undefined): Promise<void> {
  if (!email) throw new UsageError('make-administrator needs --email');
  if (!isEmailAddress(email)) throw new UsageError('--email must be an e-mail address');
  if (orgId !== undefined && !isUuid(orgId)) throw new UsageError('--organisation must be an id');
  const password = loadAdminPassword(process.env);
  await withResources(async ({ prisma }) => {
    const deps = { prisma, passwords: createPasswords(), clock: systemClock };
    const made = await makeAdministrator(deps, { email, password, orgId });
    const what = made.isNew ? 'added' : `changed, ${made.sessionsEnded} sessions ended`;
    process.stdout.write(`organisation ${made.orgId}, administrator ${made.userId}: ${what}\n`);
  });
}

async function runKeys([action, keyId]: readonly string[], isForced: boolean): Promise<void> {
  await withResources(async ({ prisma }) => {
    if (action === 'list') process.stdout.write(await describeKeys(prisma, systemClock()));
    else if (action === 'rotate') {
      const box = createSecretBox(loadEncryptionKeys(process.env));
      process.stdout.write(`published ${await rotateKey(prisma, box, systemClock(), { isForced })}\n`);
    } else if (action === 'remove' && keyId !== undefined) {
      await removeSigningKey(prisma, keyId, systemClock(), isForced);
      process.stdout.write(`removed ${keyId}\n`);
    } else throw new UsageError('keys takes list, rotate or remove <id>');
  });
}

async function runReencrypt(): Promise<void> {
  const box = createSecretBox(loadEncryptionKeys(process.env));
  await withResources(async ({ pool }) => {
    for (const [name, count] of Object.entries(await reencryptAll(pool, box)))
      process.stdout.write(`${name}: ${count} sealed anew\n`);
  });
}

async function runEraseMails(address: string): Promise<void> {
  await withResources(async ({ prisma }) => {
    process.stdout.write(`${await deleteMailsTo(prisma, normaliseEmail(address))} deleted\n`);
  });
}

const options = {
  name: { type: 'string' },
  'admin-email': { type: 'string' },
  email: { type: 'string' },
  organisation: { type: 'string' },
  force: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function parseCommandLine() {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function runCommand(): Promise<void> {
  const { values, positionals } = parseCommandLine();
  const [command, ...rest] = positionals;
  if (values.help || command === undefined) process.stdout.write(usage);
  else if (command === 'migrate') await runMigrate();
  else if (command === 'config') {
    process.stdout.write(describeVariables(identityVariables));
    loadIdentityConfig(process.env);
  } else if (command === 'create-organisation')
    await runCreateOrganisation(values.name, values['admin-email']);
  else if (command === 'make-administrator') await runMakeAdministrator(values.email, values.organisation);
  else if (command === 'keys') await runKeys(rest, values.force);
  else if (command === 'erase-mails' && rest.length === 1) await runEraseMails(rest[0] ?? '');
  else if (command === 'reseal' && rest.length === 0) await runReencrypt();
  else throw new UsageError(`unknown command ${command}`);
}

/** What the command line asks for. */
export async function main(): Promise<void> {
  try {
    await runCommand();
  } catch (error) {
    // What the user typed, or what a command refuses: a line, not a stack.
    if (!(error instanceof UsageError || error instanceof AppError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
