import type { Prisma, Transaction } from '../../resources.js';
import type { SecretBox } from '../../secret-box.js';
import type { OneTimeSecrets } from '../one-time-secrets/service.js';
import {
  accountLetter,
  codeLetter,
  invitationLetter,
  type Letter,
  type LinkBase,
  resetLetter,
  suspiciousLoginLetter,
} from './letters.js';
import { letterContext } from './outbox.js';
import {
  type Addressee,
  clearUndeliverable,
  findAddressee,
  type OutgoingMail,
  saveLetter,
} from './queries.js';

/**
 * Writes the letter of a mail, once: each attempt sends the same bytes under the same idempotency key.
 *
 * @returns undefined when there is nothing to send (any more).
 */
export type Prepare = (mail: OutgoingMail) => Promise<Letter | undefined>;

export interface PrepareDeps {
  readonly prisma: Prisma;
  readonly secrets: OneTimeSecrets;
  readonly box: SecretBox;
  readonly links: LinkBase;
}

async function composeCode(
  { secrets, links }: PrepareDeps,
  tx: Transaction,
  { email, createdAt }: OutgoingMail,
  account: Addressee | null,
): Promise<Letter | undefined> {
  // Who has been invited sets a password first.
  const to = account?.passwordHash && account.organisation.codesEnabled ? account : null;
  const issued = await secrets.issueCode(tx, email ?? '', to?.id ?? null, createdAt);
  if (!to || issued === undefined) return undefined;
  if (issued !== 'exhausted') return codeLetter(to, issued.code);
  // Nobody guesses a link: whoever has the mailbox gets in by it, and codes work again.
  const token = await secrets.issueResetToken(tx, to, createdAt);
  return token === undefined ? undefined : resetLetter(to, token, links, {}, 'guessed');
}

/** Also for who asks for a new password without having accepted: the invitation may be lost. It lapses all the same. */
async function composeInvitation(
  { secrets, links }: PrepareDeps,
  tx: Transaction,
  { createdAt, detail }: OutgoingMail,
  to: Addressee,
): Promise<Letter | undefined> {
  const issued = await secrets.issueInvitationToken(tx, to, createdAt);
  if (!issued) return undefined;
  await clearUndeliverable(tx, to.id);
  const validForMs = issued.expiresAt.getTime() - createdAt.getTime();
  return invitationLetter(to, { token: issued.token, validForMs }, links, detail);
}

async function composeReset(
  { secrets, links }: PrepareDeps,
  tx: Transaction,
  { createdAt, detail }: OutgoingMail,
  to: Addressee,
): Promise<Letter | undefined> {
  const token = await secrets.issueResetToken(tx, to, createdAt);
  return token === undefined ? undefined : resetLetter(to, token, links, detail);
}

async function compose(deps: PrepareDeps, tx: Transaction, mail: OutgoingMail): Promise<Letter | undefined> {
  const to = await findAddressee(tx, mail);
  if (mail.kind === 'login_code') return composeCode(deps, tx, mail, to);
  if (!to) return undefined;
  if (mail.kind === 'account_created') return accountLetter(to, deps.links);
  if (mail.kind === 'suspicious_login') return suspiciousLoginLetter(to, mail.detail, deps.links);
  // Written whole when it was caused.
  if (mail.kind === 'smtp_changed') return undefined;
  const hasPassword = to.passwordHash !== null;
  if (mail.kind === 'password_reset' && hasPassword) return composeReset(deps, tx, mail, to);
  return hasPassword ? undefined : composeInvitation(deps, tx, mail, to);
}

export function createPrepare(deps: PrepareDeps): Prepare {
  const { prisma, box } = deps;
  return async (mail) => {
    if (mail.letterSealed !== null)
      return JSON.parse(box.open(mail.letterSealed, letterContext(mail.id))) as Letter;
    return prisma.$transaction(async (tx) => {
      const letter = await compose(deps, tx, mail);
      if (letter) await saveLetter(tx, mail.id, box.seal(JSON.stringify(letter), letterContext(mail.id)));
      return letter;
    });
  };
}
