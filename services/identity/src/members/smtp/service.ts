import { isDeepStrictEqual } from 'node:util';
import { type AppError, type Clock, notFound, type SecretBox, validationError } from '@platform/service-kit';
import { findChanges } from '../../audit/changes.js';
import type { Caller } from '../../base/caller/actor.js';
import { describeRequest } from '../../base/caller/client.js';
import type { SendEmailRequest, SmtpSnapshot } from '../../mails/outbox/email-request.js';
import { toSmtpChangedEmail } from '../../mails/outbox/emails.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import {
  type Administration,
  type Administrator,
  changeAsAdministrator,
  findAdministrators,
} from '../organisation/administration.js';
import { describeAuth, mergeAuth, splitAuth } from './auth.js';
import { type CompleteSmtp, keepSecrets } from './keep-secrets.js';
import {
  deleteSmtpConfiguration,
  findRemovedServer,
  findSmtpConfiguration,
  type RemovedServer,
  type SmtpConfigurationRow,
  upsertSmtpConfiguration,
} from './queries.js';
import type { SaveSmtpConfigBody, SmtpConfig, SmtpConfigWithSecrets, TlsMode } from './schemas.js';
import type { Prisma } from '../../prisma.js';

const smtpConfigNotFound = (): AppError => notFound('Smtp Configuration not set');

/** The context that binds the sealed secret to its organisation, so that it can't be opened in another row. */
export const smtpSecretContext = (orgId: string): string => `smtp-secret:${orgId}`;

const toOpenConfig = ({ host, port, fromEmail, username, auth, tls }: SmtpConfigurationRow) => ({
  host,
  port,
  fromEmail,
  ...(username === null ? {} : { username }),
  ...(auth === null ? {} : { auth }),
  tls: tls as TlsMode,
});

const toSmtpConfig = (row: SmtpConfigurationRow): SmtpConfig => ({
  ...toOpenConfig(row),
  hasPassword: row.auth === null && row.secretSealed !== null,
});

const fields = ['host', 'port', 'fromEmail', 'username', 'auth', 'tls'] as const;
const toAuditFields = (row: SmtpConfigurationRow) => ({ ...row, auth: row.auth && describeAuth(row.auth) });

function assertSignIn({ username, password, auth }: SaveSmtpConfigBody): void {
  const hasPassword = (password ?? null) !== null;
  if (username === undefined && (hasPassword || auth))
    throw validationError([
      { field: 'username', message: `is required with ${auth ? '`auth`' : 'a password'}` },
    ]);
  if (hasPassword && auth)
    throw validationError([{ field: 'password', message: 'cannot be combined with `auth`' }]);
}

/** Returns what the audit says about the password, or the secrets of `auth`. */
function describeSecret(
  { before, old }: { readonly before: SmtpConfigurationRow | null; readonly old: SmtpSnapshot | undefined },
  {
    row,
    present,
  }: { readonly row: SmtpConfigurationRow | undefined; readonly present: SmtpSnapshot | undefined },
): 'unchanged' | 'removed' | 'changed' {
  const had = (before?.secretSealed ?? null) !== null;
  if ((row?.secretSealed ?? null) === null) return had ? 'removed' : 'unchanged';
  const isKept = isDeepStrictEqual([old?.password, old?.auth], [present?.password, present?.auth]);
  return had && isKept ? 'unchanged' : 'changed';
}

interface SmtpChange {
  /** The configuration that is replaced, or the last removed one. */
  readonly before: SmtpConfigurationRow | RemovedServer;
  /** The old configuration with its secrets; undefined when they can't be decrypted, or was removed earlier. */
  readonly old: SmtpSnapshot | undefined;
  /** The new configuration; undefined when it was removed. */
  readonly present: SmtpSnapshot | undefined;
}

const describeServer = ({ host, port, fromEmail }: SmtpChange['before']): string =>
  `${host}:${port} (${fromEmail})`;

/**
 * Creates a message to each administrator through each of the two servers. Each message carries the configuration that
 * it is sent with, so that the change doesn't wait for either server and the mail service needn't look it up.
 */
function toSmtpNotices(
  administrators: readonly Administrator[],
  { fullName, email, client }: Caller,
  { before, old, present }: SmtpChange,
  at: Date,
): { readonly userId: string; readonly message: SendEmailRequest }[] {
  const detail = {
    changedBy: `${fullName} (${email})`,
    ...describeRequest(client, at),
    ...(before.host !== null && { oldServer: describeServer(before) }),
    ...(present ? { newServer: describeServer(present) } : { notice: 'smtpServerRemoved' }),
  };
  return [old, present]
    .filter((smtp) => smtp !== undefined)
    .flatMap((smtp) =>
      administrators.map((to) => ({ userId: to.id, message: toSmtpChangedEmail(to, detail, smtp) })),
    );
}

export interface SmtpContext {
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

async function requireSmtp({ prisma }: SmtpContext, orgId: string): Promise<SmtpConfigurationRow> {
  const row = await findSmtpConfiguration(prisma, orgId);
  if (!row) throw smtpConfigNotFound();
  return row;
}

function openSnapshot({ box }: SmtpContext, orgId: string, row: SmtpConfigurationRow): SmtpConfigWithSecrets {
  const { auth, ...smtp } = toOpenConfig(row);
  if (row.secretSealed === null) return smtp;
  const secret = box.open(row.secretSealed, smtpSecretContext(orgId));
  return auth ? { ...smtp, auth: mergeAuth(auth, secret) } : { ...smtp, password: secret };
}

function toRow(
  { box }: SmtpContext,
  orgId: string,
  { password, username, auth, ...rest }: CompleteSmtp,
): SmtpConfigurationRow {
  const split = auth && splitAuth(auth);
  const secret = split?.secret ?? password;
  return {
    ...rest,
    username: username ?? null,
    auth: split?.open ?? null,
    secretSealed: secret === undefined ? null : box.seal(secret, smtpSecretContext(orgId)),
  };
}

/** Returns undefined when the secret's key is lost: the configuration can still be replaced, but not sent through. */
function tryOpenSnapshot(
  ctx: SmtpContext,
  orgId: string,
  row: SmtpConfigurationRow,
): SmtpConfigWithSecrets | undefined {
  try {
    return openSnapshot(ctx, orgId, row);
  } catch {
    return undefined;
  }
}

/** Returns what is stored; `lost` when there is a secret that can't be decrypted. */
const readStored = (
  ctx: SmtpContext,
  orgId: string,
  row: SmtpConfigurationRow,
): SmtpConfigWithSecrets | 'lost' => tryOpenSnapshot(ctx, orgId, row) ?? 'lost';

/**
 * Records a change in the audit and notifies the administrators.
 *
 * @param row - the new configuration; undefined when it is removed.
 */
async function recordChange(
  ctx: SmtpContext,
  { tx, at, record }: Administration,
  caller: Caller,
  before: SmtpConfigurationRow | null,
  row: SmtpConfigurationRow | undefined,
): Promise<void> {
  const { orgId } = caller;
  const old = before ? tryOpenSnapshot(ctx, orgId, before) : undefined;
  const present = row && openSnapshot(ctx, orgId, row);
  const secret = describeSecret({ before, old }, { row, present });
  const changes = findChanges(before ? toAuditFields(before) : undefined, row && toAuditFields(row), fields);
  await record({
    action: row ? 'configuration.smtp_saved' : 'configuration.smtp_removed',
    subjectId: orgId,
    detail: { password: secret },
    changes,
  });
  // A first server redirects no mail. A server after a removal does, as if it had replaced the removed one.
  const previous = before ?? (await findRemovedServer(tx, orgId));
  if (!previous || (secret === 'unchanged' && Object.keys(changes).length === 0)) return;
  const change = { before: previous, old, present };
  const notices = toSmtpNotices(await findAdministrators(tx, orgId), caller, change, at);
  await ctx.outbox.addMessages(tx, 'smtp_changed', notices, caller.client.requestId, at);
}

/** Returns the configuration without its secrets. @throws AppError 404. */
export async function getSmtp(ctx: SmtpContext, orgId: string): Promise<SmtpConfig> {
  return toSmtpConfig(await requireSmtp(ctx, orgId));
}

/** Returns the configuration with its secrets, for the mail service only. @throws AppError 404. */
export async function getSmtpWithSecrets(ctx: SmtpContext, orgId: string): Promise<SmtpConfigWithSecrets> {
  return openSnapshot(ctx, orgId, await requireSmtp(ctx, orgId));
}

/**
 * Replaces the configuration, apart from the secrets that it leaves out, and notifies the administrators by mail,
 * through the old server and the new one, or through the new one alone when the old one had been removed before.
 *
 * @throws AppError 400 for a password or `auth` without a user name, for both of them, for faults of `auth`, and for
 *   a secret that is left out although it would be sent to another server.
 */
export async function saveSmtp(
  ctx: SmtpContext,
  caller: Caller,
  body: SaveSmtpConfigBody,
): Promise<SmtpConfig> {
  assertSignIn(body);
  const { orgId } = caller;
  const saved = await changeAsAdministrator(ctx, caller, async (administration) => {
    const { tx, at } = administration;
    const before = await findSmtpConfiguration(tx, orgId);
    const row = toRow(ctx, orgId, keepSecrets(body, before ? readStored(ctx, orgId, before) : undefined));
    await upsertSmtpConfiguration(tx, orgId, row, at);
    await recordChange(ctx, administration, caller, before, row);
    return toSmtpConfig(row);
  });
  ctx.outbox.wake();
  return saved;
}

/** Removes the configuration and notifies the administrators through the removed server. @throws AppError 404. */
export async function removeSmtp(ctx: SmtpContext, caller: Caller): Promise<void> {
  const { orgId } = caller;
  await changeAsAdministrator(ctx, caller, async (administration) => {
    const { tx } = administration;
    const before = await findSmtpConfiguration(tx, orgId);
    if (!before || !(await deleteSmtpConfiguration(tx, orgId))) throw smtpConfigNotFound();
    await recordChange(ctx, administration, caller, before, undefined);
  });
  ctx.outbox.wake();
}
