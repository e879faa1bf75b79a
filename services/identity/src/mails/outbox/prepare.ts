import type { SecretBox } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../prisma.js';
import {
  issueCode,
  issueInvitationToken,
  issueResetToken,
  type OneTimeSecretContext,
} from '../one-time-secrets/service.js';
import { mergeCrawls } from './crawl-notices.js';
import type { SendEmailRequest } from './email-request.js';
import {
  toAccountEmail,
  toCodeEmail,
  toInvitationEmail,
  toPasswordChangedEmail,
  type LinkBase,
  type MailDetail,
  toResetEmail,
  toSuspiciousLoginEmail,
} from './emails.js';
import { mergeAlerts } from './merge.js';
import { toNoticeEmail } from './notice-emails.js';
import { messageContext } from './outbox.js';
import {
  type Addressee,
  deleteMails,
  findAddressee,
  lockMergeable,
  saveInvitationMail,
  saveMessage,
} from './queries.js';
import type { OutgoingMail } from './outbox.sql.js';

export interface PrepareContext {
  readonly prisma: Prisma;
  readonly secrets: OneTimeSecretContext;
  readonly box: SecretBox;
  readonly links: LinkBase;
}

async function composeCode(
  { secrets, links }: PrepareContext,
  tx: Transaction,
  { email, createdAt }: OutgoingMail,
  account: Addressee | null,
): Promise<SendEmailRequest | undefined> {
  // An invitee has to set a password before signing in with codes.
  const to = account?.passwordHash && account.organisation.codesEnabled ? account : null;
  const issued = await issueCode(secrets, tx, email ?? '', to?.id ?? null, createdAt);
  if (!to || issued === undefined) return undefined;
  if (issued !== 'exhausted') return toCodeEmail(to, issued.code);
  // A link can't be guessed. The owner of the mailbox gets in with it, and codes work again after that.
  const token = await issueResetToken(secrets, tx, to, createdAt);
  return token === undefined ? undefined : toResetEmail(to, token, links, {}, 'guessed');
}

/** Also composed when an invitee requests a password link, as the mail may be lost. The invitation's expiry stays. */
async function composeInvitation(
  { secrets, links }: PrepareContext,
  tx: Transaction,
  { id, createdAt, detail }: OutgoingMail,
  to: Addressee,
): Promise<SendEmailRequest | undefined> {
  const issued = await issueInvitationToken(secrets, tx, to, createdAt);
  if (!issued) return undefined;
  await saveInvitationMail(tx, to.id, id);
  const validForMs = issued.expiresAt.getTime() - createdAt.getTime();
  return toInvitationEmail(to, { token: issued.token, validForMs }, links, detail);
}

async function composeReset(
  { secrets, links }: PrepareContext,
  tx: Transaction,
  { createdAt, detail }: OutgoingMail,
  to: Addressee,
): Promise<SendEmailRequest | undefined> {
  const token = await issueResetToken(secrets, tx, to, createdAt);
  return token === undefined ? undefined : toResetEmail(to, token, links, detail);
}

/** Merges the mails that are waiting with this one. @returns undefined when it has been merged into another one. */
async function merge(
  tx: Transaction,
  mail: OutgoingMail,
  mergeDetails: (details: readonly MailDetail[]) => MailDetail,
): Promise<MailDetail | undefined> {
  const waiting = await lockMergeable(tx, mail);
  if (!waiting.some(({ id }) => id === mail.id)) return undefined;
  await deleteMails(
    tx,
    waiting.map(({ id }) => id).filter((id) => id !== mail.id),
  );
  return mergeDetails(waiting.map(({ detail }) => detail));
}

async function compose(
  ctx: PrepareContext,
  tx: Transaction,
  mail: OutgoingMail,
): Promise<SendEmailRequest | undefined> {
  const to = await findAddressee(tx, mail);
  if (mail.kind === 'login_code') return composeCode(ctx, tx, mail, to);
  if (!to) return undefined;
  if (mail.kind === 'account_created') return toAccountEmail(to, ctx.links);
  if (mail.kind === 'suspicious_login') return toSuspiciousLoginEmail(to, mail.detail, ctx.links);
  if (mail.kind === 'password_changed') return toPasswordChangedEmail(to, mail.detail, ctx.links);
  if (mail.kind === 'token_alert') {
    const detail = mail.mergeKey === null ? mail.detail : await merge(tx, mail, mergeAlerts);
    return detail && toNoticeEmail('tokenAlert', to, detail, ctx.links);
  }
  if (mail.kind === 'crawl_notice') {
    const detail = await merge(tx, mail, mergeCrawls);
    return detail && toNoticeEmail('crawlFailures', to, detail, ctx.links);
  }
  if (mail.kind === 'service_notice') return toNoticeEmail('connectedService', to, mail.detail, ctx.links);
  if (mail.kind === 'token_expiring') return toNoticeEmail('tokenExpiring', to, mail.detail, ctx.links);
  // This kind is stored as a complete message.
  if (mail.kind === 'smtp_changed') return undefined;
  const hasPassword = to.passwordHash !== null;
  if (mail.kind === 'password_reset' && hasPassword) return composeReset(ctx, tx, mail, to);
  return hasPassword ? undefined : composeInvitation(ctx, tx, mail, to);
}

/**
 * Composes the message of a mail once and stores it, so that each attempt sends the same bytes under the same
 * idempotency key.
 *
 * @returns undefined when there is nothing to send.
 */
export async function prepareMail(
  ctx: PrepareContext,
  mail: OutgoingMail,
): Promise<SendEmailRequest | undefined> {
  const { prisma, box } = ctx;
  if (mail.sealedMessage !== null)
    return JSON.parse(box.open(mail.sealedMessage, messageContext(mail.id))) as SendEmailRequest;
  return prisma.$transaction(async (tx) => {
    const message = await compose(ctx, tx, mail);
    if (message) await saveMessage(tx, mail.id, box.seal(JSON.stringify(message), messageContext(mail.id)));
    return message;
  });
}
