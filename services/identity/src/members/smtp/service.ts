import { type AppError, type Clock, notFound, type SecretBox, validationError } from '@platform/service-kit';
import { findChanges } from '../../audit/changes.js';
import { insertAuditEntry } from '../../audit/queries.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import { lockAdministration } from '../organisation/administration.js';
import { smtpNotices } from './notices.js';
import {
  deleteSmtpConfiguration,
  findAdministrators,
  findRemovedServer,
  findSmtpConfiguration,
  type SmtpConfigurationRow,
  upsertSmtpConfiguration,
} from './queries.js';
import type { SaveSmtpConfigBody, SmtpConfig, SmtpConfigWithPassword, TlsMode } from './schemas.js';
import type { Prisma, Transaction } from '../../resources.js';

const smtpConfigNotFound = (): AppError => notFound('Smtp Configuration not set');
const passwordWithoutUsername = (): AppError =>
  validationError([{ field: 'username', message: 'is required with a password' }]);

/** The context that binds the sealed password to its organisation, so that it can't be opened in another row. */
export const smtpPasswordContext = (orgId: string): string => `smtp-password:${orgId}`;

const toSmtpConfig = ({ host, port, fromEmail, username, tls }: SmtpConfigurationRow): SmtpConfig => ({
  host,
  port,
  fromEmail,
  ...(username === null ? {} : { username }),
  tls: tls as TlsMode,
});

const fields = ['host', 'port', 'fromEmail', 'username', 'tls'] as const;

export function createConfigurationService(deps: {
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly outbox: Outbox;
  readonly clock: Clock;
}) {
  const { prisma, box, outbox, clock } = deps;

  async function find(orgId: string): Promise<SmtpConfigurationRow> {
    const row = await findSmtpConfiguration(prisma, orgId);
    if (!row) throw smtpConfigNotFound();
    return row;
  }

  function openSnapshot(orgId: string, row: SmtpConfigurationRow): SmtpConfigWithPassword {
    if (row.passwordSealed === null) return toSmtpConfig(row);
    return { ...toSmtpConfig(row), password: box.open(row.passwordSealed, smtpPasswordContext(orgId)) };
  }

  /** Returns undefined when the password's key is lost: the configuration can still be replaced, but not sent through. */
  function tryOpenSnapshot(orgId: string, row: SmtpConfigurationRow): SmtpConfigWithPassword | undefined {
    try {
      return openSnapshot(orgId, row);
    } catch {
      return undefined;
    }
  }

  /**
   * Records a change in the audit and notifies the administrators.
   *
   * @param row - the new configuration; undefined when it is removed.
   */
  async function recordChange(
    tx: Transaction,
    caller: Caller,
    before: SmtpConfigurationRow | null,
    row: SmtpConfigurationRow | undefined,
    at: Date,
  ): Promise<void> {
    const { orgId } = caller;
    const old = before ? tryOpenSnapshot(orgId, before) : undefined;
    const present = row && openSnapshot(orgId, row);
    const isPasswordKept = old !== undefined && old.password === present?.password;
    const changes = findChanges(before ?? undefined, row, fields);
    await insertAuditEntry(tx, {
      orgId,
      action: row ? 'configuration.smtp_saved' : 'configuration.smtp_removed',
      actor: toActor(caller),
      subjectId: orgId,
      detail: { password: isPasswordKept ? 'unchanged' : 'changed' },
      changes,
      at,
    });
    // A first server redirects no mail. One that follows a removal does, just as if it had replaced the removed one.
    const previous = before ?? (await findRemovedServer(tx, orgId));
    if (!previous || (isPasswordKept && Object.keys(changes).length === 0)) return;
    const change = { before: previous, old, present };
    const notices = smtpNotices(await findAdministrators(tx, orgId), caller, change, at);
    await outbox.addMessages(tx, 'smtp_changed', notices, caller.client.requestId, at);
  }

  return {
    /** Returns the configuration without the password. @throws AppError 404. */
    getSmtp: async (orgId: string): Promise<SmtpConfig> => toSmtpConfig(await find(orgId)),

    /** Returns the configuration with the password, for the mail service only. @throws AppError 404. */
    getSmtpWithPassword: async (orgId: string): Promise<SmtpConfigWithPassword> =>
      openSnapshot(orgId, await find(orgId)),

    /**
     * Replaces the whole configuration and notifies the administrators by mail, through the old server and the new one, or
     * through the new one alone when the old one had been removed before.
     *
     * @throws AppError 400 for a password without a user name.
     */
    async saveSmtp(caller: Caller, { password, username, ...rest }: SaveSmtpConfigBody): Promise<SmtpConfig> {
      if (password !== undefined && username === undefined) throw passwordWithoutUsername();
      const { orgId } = caller;
      const row = {
        ...rest,
        username: username ?? null,
        passwordSealed: password === undefined ? null : box.seal(password, smtpPasswordContext(orgId)),
      };
      const at = new Date(clock());
      await prisma.$transaction(async (tx) => {
        await lockAdministration(tx, caller);
        const before = await findSmtpConfiguration(tx, orgId);
        await upsertSmtpConfiguration(tx, orgId, row, at);
        await recordChange(tx, caller, before, row, at);
      });
      outbox.wake();
      return toSmtpConfig(row);
    },

    /** Removes the configuration and notifies the administrators through the removed server. @throws AppError 404. */
    async removeSmtp(caller: Caller): Promise<void> {
      const { orgId } = caller;
      const at = new Date(clock());
      await prisma.$transaction(async (tx) => {
        await lockAdministration(tx, caller);
        const before = await findSmtpConfiguration(tx, orgId);
        if (!before || !(await deleteSmtpConfiguration(tx, orgId))) throw smtpConfigNotFound();
        await recordChange(tx, caller, before, undefined, at);
      });
      outbox.wake();
    },
  };
}

export type ConfigurationService = ReturnType<typeof createConfigurationService>;
