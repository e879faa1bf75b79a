import { parseArgs } from 'node:util';
import { startFeedEpoch } from '@platform/events';
import {
  createReencryptCommand,
  createSecretBox,
  defineCommands,
  endPendingRestore,
  inTransaction,
  isRestorePending,
  systemClock,
  UsageError,
} from '@platform/service-kit';
import { validate as isUuid } from 'uuid';
import { isEmailAddress, isOrganisationName } from './base/config-values.js';
import { identityVariables, loadAdminPassword, loadEncryptionKeys, loadIdentityConfig } from './config.js';
import { withResources } from './command-resources.js';
import { makeAdministrator } from './commands/administrators.js';
import { recordCommand } from './commands/record-command.js';
import { removeMember } from './commands/members.js';
import { createOrganisation } from './commands/organisations.js';
import { deleteMailsTo } from './mails/outbox/queries.js';
import { resetByCommand } from './sign-in/second-factor/reset.js';
import { createPasswords } from './base/passwords.js';
import { sealedColumns } from './commands/sealed-columns.js';
import type { Transaction } from './prisma.js';
import { describeKeys, removeSigningKey, rotateKey } from './credentials/signing-keys/commands.js';
import { normaliseEmail } from './members/members/service.js';
import { runLiftRequirement, runReleaseDomain, runVerifyDomain } from './provider-commands.js';

const help = `  create-organisation           --name <name> --admin-email <address>
                                (the password comes from ADMIN_PASSWORD)
  make-administrator            --email <address> [--organisation <id>]
                                make a member an administrator with a new password (from ADMIN_PASSWORD),
                                or add one to the organisation, for when no administrator can log in. The
                                account's sessions end, its tokens stay, and the audit says so
  reset-second-factor           --email <address>
                                remove a member's second factor, for when no administrator can do it;
                                the sessions of the account end, and the audit says so
  remove-member                 --email <address>
                                remove a member from whichever organisation has the address, for when its
                                owner belongs to another one; the audit says so
  verify-domain                 --organisation <id> --domain <name>
                                verify a domain of e-mail addresses for an organisation's identity provider
                                where its DNS record can't be looked up
  release-domain                --domain <name>
                                take a verified domain from the organisation that has it, for when it has
                                passed to somebody else; the audit says so
  lift-provider-requirement     --organisation <id>
                                let members sign in without the organisation's identity provider again, for
                                when nobody gets in with it
  keys list                     list the signing keys, newest first
  keys rotate [--force]         publish a new signing key, which signs after 20 seconds; with
                                --force even if ENCRYPTION_KEYS are lost, and then at once
  keys remove <id> [--force]    reject what a key signed; without --force only if no active
                                token is signed with it
  erase-mails <address>         delete the mails waiting for an address; sent mails are recorded in the
                                mail service (DELETE /api/v1/mail/records?recipient=...)
  after-restore [--if-pending]  say that the database was restored, before the service starts: the cursors
                                of the events feed are refused, as they may skip events
  re-encrypt                    re-encrypt stored secrets with the first of ENCRYPTION_KEYS; then
                                the others can be removed

The keys commands and re-encrypt need ENCRYPTION_KEYS as well.`;

const text = { type: 'string' } as const;

async function runCreateOrganisation(args: string[]): Promise<void> {
  const { name, 'admin-email': adminEmail } = parseArgs({
    args,
    options: { name: text, 'admin-email': text },
  }).values;
  if (!name || !adminEmail) throw new UsageError('create-organisation needs --name and --admin-email');
  if (!isOrganisationName(name)) throw new UsageError('--name must be a name of 1 to 200 visible characters');
  if (!isEmailAddress(adminEmail)) throw new UsageError('--admin-email must be an e-mail address');
  const adminPassword = loadAdminPassword(process.env);
  await withResources(process.env, async ({ prisma }) => {
    const organisations = {
      prisma,
      passwords: createPasswords(),
      clock: systemClock,
    };
    const { orgId, adminId } = await createOrganisation(organisations, { name, adminEmail, adminPassword });
    process.stdout.write(`organisation ${orgId}, administrator ${adminId}\n`);
  });
}

async function runMakeAdministrator(args: string[]): Promise<void> {
  const { email, organisation: orgId } = parseArgs({
    args,
    options: { email: text, organisation: text },
  }).values;
  if (!email) throw new UsageError('make-administrator needs --email');
  if (!isEmailAddress(email)) throw new UsageError('--email must be an e-mail address');
  if (orgId !== undefined && !isUuid(orgId)) throw new UsageError('--organisation must be an id');
  const password = loadAdminPassword(process.env);
  await withResources(process.env, async ({ prisma }) => {
    const deps = { prisma, passwords: createPasswords(), clock: systemClock };
    const made = await makeAdministrator(deps, { email, password, orgId });
    const what = made.isNew ? 'added' : `changed, ${made.sessionsEnded} sessions ended`;
    process.stdout.write(`organisation ${made.orgId}, administrator ${made.userId}: ${what}\n`);
  });
}

async function runResetSecondFactor(args: string[]): Promise<void> {
  const { email } = parseArgs({ args, options: { email: text } }).values;
  if (!email) throw new UsageError('reset-second-factor needs --email');
  await withResources(process.env, async ({ prisma }) => {
    await resetByCommand({ prisma, clock: systemClock }, normaliseEmail(email));
    process.stdout.write('second factor removed, sessions ended\n');
  });
}

async function runRemoveMember(args: string[]): Promise<void> {
  const { email } = parseArgs({ args, options: { email: text } }).values;
  if (!email) throw new UsageError('remove-member needs --email');
  const address = normaliseEmail(email);
  await withResources(process.env, async ({ prisma }) => {
    const orgId = await removeMember({ prisma, clock: systemClock }, address);
    process.stdout.write(`${address} removed from organisation ${orgId}\n`);
  });
}

async function runKeys(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    options: { force: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [action, keyId] = positionals;
  const isForced = values.force;
  await withResources(process.env, async ({ prisma }) => {
    /** Runs a command and records it, or neither. @param run - returns the id of the key. */
    const runRecorded = (run: (tx: Transaction) => Promise<string>) =>
      prisma.$transaction(async (tx) => {
        const detail = { keyId: await run(tx) };
        await recordCommand(tx, { name: `keys ${action}`, detail }, new Date(systemClock()));
        return detail.keyId;
      });
    if (action === 'list') process.stdout.write(await describeKeys(prisma, systemClock()));
    else if (action === 'rotate') {
      const box = createSecretBox(loadEncryptionKeys(process.env));
      const published = await runRecorded((tx) => rotateKey(tx, box, systemClock(), { isForced }));
      process.stdout.write(`published ${published}\n`);
    } else if (action === 'remove' && keyId !== undefined) {
      await runRecorded(async (tx) => {
        await removeSigningKey(tx, keyId, systemClock(), isForced);
        return keyId;
      });
      process.stdout.write(`removed ${keyId}\n`);
    } else throw new UsageError('keys takes list, rotate or remove <id>');
  });
}

async function runAfterRestore(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { 'if-pending': { type: 'boolean' } } });
  await withResources(process.env, ({ pool }) =>
    inTransaction(pool, async (client) => {
      if (values['if-pending'] && !(await isRestorePending(client))) return;
      await startFeedEpoch(client);
      await endPendingRestore(client);
      await recordCommand(client, { name: 'after-restore' }, new Date(systemClock()));
    }),
  );
}

async function runEraseMails(args: string[]): Promise<void> {
  const [address, ...rest] = parseArgs({ args, allowPositionals: true }).positionals;
  if (address === undefined || rest.length > 0) throw new UsageError('erase-mails takes one address');
  await withResources(process.env, async ({ prisma }) => {
    const email = normaliseEmail(address);
    const count = await prisma.$transaction(async (tx) => {
      const deleted = await deleteMailsTo(tx, email);
      const detail = { deleted: String(deleted) };
      await recordCommand(tx, { name: 'erase-mails', email, detail }, new Date(systemClock()));
      return deleted;
    });
    process.stdout.write(`${count} deleted\n`);
  });
}

export const main = defineCommands({
  name: 'identity',
  program: import.meta.url,
  variables: identityVariables,
  loadConfig: loadIdentityConfig,
  help,
  commands: {
    'create-organisation': runCreateOrganisation,
    'make-administrator': runMakeAdministrator,
    'reset-second-factor': runResetSecondFactor,
    'remove-member': runRemoveMember,
    'verify-domain': (args) => runVerifyDomain(args, process.env),
    'release-domain': (args) => runReleaseDomain(args, process.env),
    'lift-provider-requirement': (args) => runLiftRequirement(args, process.env),
    keys: runKeys,
    'erase-mails': runEraseMails,
    'after-restore': runAfterRestore,
    're-encrypt': createReencryptCommand({
      databaseUrl: identityVariables.DATABASE_URL,
      sealed: sealedColumns,
      record: (db) => recordCommand(db, { name: 're-encrypt' }, new Date(systemClock())),
    }),
  },
});
