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

  migrate                       apply the pending database migrations
  config                        list every variable, and check the environment
  create-organisation           --name <name> --admin-email <address>
                                (the password comes from ADMIN_PASSWORD)
  make-administrator            --email <address> [--organisation <id>]
                                make a member an administrator with a new password (from ADMIN_PASSWORD),
                                or add one to the organisation, for when no administrator can log in. The
                                account's sessions end, its tokens stay, and the audit says so
  keys list                     list the signing keys, newest first
  keys rotate [--force]         publish a new signing key, which signs after 20 seconds; with
                                --force even if ENCRYPTION_KEYS are lost, and then at once
  keys remove <id> [--force]    reject what a key signed; without --force only if no active
                                token is signed with it
  erase-mails <address>         delete the mails waiting for an address; sent mails are recorded in the
                                mail service (DELETE /api/v1/mail/records?recipient=...)
  reseal                        re-encrypt stored secrets with the first of ENCRYPTION_KEYS; then
                                the others can be removed

The database is DATABASE_URL; the keys commands and reseal need ENCRYPTION_KEYS as well.
`;

class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Opens the resources that a command needs, and always closes them. */
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
      process.stdout.write(`${name}: ${count} re-encrypted\n`);
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

/** Runs the command that the command line names. */
export async function main(): Promise<void> {
  try {
    await runCommand();
  } catch (error) {
    // For a usage error or a rejected command, the operator gets one line instead of a stack trace.
    if (!(error instanceof UsageError || error instanceof AppError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
