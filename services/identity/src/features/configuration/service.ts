import type { UserPrincipal } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import type { SecretBox } from '../../secret-box.js';
import { insertAuditEntry } from '../audit/queries.js';
import { passwordWithoutUsername, smtpConfigNotFound } from './errors.js';
import {
  deleteSmtpConfiguration,
  findSmtpConfiguration,
  type SmtpConfigurationRow,
  upsertSmtpConfiguration,
} from './queries.js';
import type { SaveSmtpConfigBody, SmtpConfig, SmtpConfigWithPassword, TlsMode } from './schemas.js';

export interface ConfigurationService {
  /** Without the password. @throws AppError 404. */
  getSmtp(orgId: string): Promise<SmtpConfig>;
  /** For the mail service alone: with the password. @throws AppError 404. */
  getSmtpWithPassword(orgId: string): Promise<SmtpConfigWithPassword>;
  /** Replaces the whole configuration. @throws AppError 400 for a password without a user name. */
  saveSmtp(principal: UserPrincipal, body: SaveSmtpConfigBody): Promise<SmtpConfig>;
  /** @throws AppError 404. */
  removeSmtp(principal: UserPrincipal): Promise<void>;
}

/** Binds the sealed password to its organisation: copied to another row, it doesn't open. */
export const smtpPasswordContext = (orgId: string): string => `smtp-password:${orgId}`;

const describe = ({ host, port, fromEmail, username, tls }: SmtpConfigurationRow): SmtpConfig => ({
  host,
  port,
  fromEmail,
  ...(username === null ? {} : { username }),
  tls: tls as TlsMode,
});

export function createConfigurationService(deps: {
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly clock: Clock;
}): ConfigurationService {
  const { prisma, box, clock } = deps;

  async function find(orgId: string): Promise<SmtpConfigurationRow> {
    const row = await findSmtpConfiguration(prisma, orgId);
    if (!row) throw smtpConfigNotFound();
    return row;
  }

  return {
    getSmtp: async (orgId) => describe(await find(orgId)),

    async getSmtpWithPassword(orgId) {
      const row = await find(orgId);
      if (row.passwordSealed === null) return describe(row);
      return { ...describe(row), password: box.open(row.passwordSealed, smtpPasswordContext(orgId)) };
    },

    async saveSmtp({ orgId, userId: actorId }, { password, username, ...rest }) {
      if (password !== undefined && username === undefined) throw passwordWithoutUsername();
      const row = {
        ...rest,
        username: username ?? null,
        passwordSealed: password === undefined ? null : box.seal(password, smtpPasswordContext(orgId)),
      };
      const at = new Date(clock());
      const { host, port, fromEmail, tls } = rest;
      await prisma.$transaction(async (tx) => {
        await upsertSmtpConfiguration(tx, orgId, row, at);
        await insertAuditEntry(tx, {
          orgId,
          action: 'configuration.smtp_saved',
          actorId,
          subjectId: orgId,
          detail: { server: `${host}:${port}`, fromEmail, tls },
          at,
        });
      });
      return describe(row);
    },

    async removeSmtp({ orgId, userId: actorId }) {
      const at = new Date(clock());
      await prisma.$transaction(async (tx) => {
        if (!(await deleteSmtpConfiguration(tx, orgId))) throw smtpConfigNotFound();
        await insertAuditEntry(tx, {
          orgId,
          action: 'configuration.smtp_removed',
          actorId,
          subjectId: orgId,
          at,
        });
      });
    },
  };
}
