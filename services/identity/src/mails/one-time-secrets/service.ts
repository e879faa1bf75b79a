import { toDigest } from '@platform/auth';
import type { Clock, SecretBox } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../prisma.js';
import { issueSecret, type SecretKind } from './issue.js';
import {
  consumeLink,
  deleteSecrets,
  findLink,
  lockSecret,
  type StoredSecret,
  verifyCode,
} from './queries.js';
import {
  type CodeDigests,
  generateCode,
  generateToken,
  type LinkPurpose,
  secretLifetimes,
  WRONG_CODES_WINDOW_MS,
} from './secret.js';

export interface FoundLink {
  readonly purpose: LinkPurpose;
  readonly email: string;
  readonly fullName: string;
  readonly organisation: string;
  readonly expiresAt: string;
}

const tokens: SecretKind = { make: generateToken, digests: (secret) => [toDigest(secret)] };

function isExhausted({ triesLeft, triesSince }: StoredSecret, at: Date): boolean {
  return triesLeft <= 0 && triesSince !== null && triesSince.getTime() > at.getTime() - WRONG_CODES_WINDOW_MS;
}

/** The context of the codes and links that are mailed. */
export interface OneTimeSecretContext {
  readonly prisma: Prisma;
  readonly codeDigests: CodeDigests;
  readonly box: SecretBox;
  readonly clock: Clock;
}

/**
 * @param userId - null issues a code that authenticates nobody, at the same cost, so that timing reveals nothing.
 * @returns `exhausted` when the day's wrong guesses are used up; undefined when a newer code has been issued.
 */
export async function issueCode(
  { codeDigests, box }: OneTimeSecretContext,
  tx: Transaction,
  email: string,
  userId: string | null,
  createdAt: Date,
): Promise<{ readonly code: string } | 'exhausted' | undefined> {
  const present = await lockSecret(tx, 'login_code', toDigest(email));
  if (present && isExhausted(present, createdAt)) return 'exhausted';
  const request = { purpose: 'login_code', email, userId, at: createdAt, endsAt: undefined } as const;
  const digests = (secret: string) => codeDigests(secret, email);
  const issued = await issueSecret(box, tx, request, { make: generateCode, digests });
  return issued && { code: issued.secret };
}

export async function issueResetToken(
  { box }: OneTimeSecretContext,
  tx: Transaction,
  { id: userId, email }: { readonly id: string; readonly email: string },
  createdAt: Date,
): Promise<string | undefined> {
  const request = { purpose: 'password_reset', email, userId, at: createdAt, endsAt: undefined } as const;
  return (await issueSecret(box, tx, request, tokens))?.secret;
}

/**
 * Issues the token of an invitation. It expires with the invitation, however often it is mailed.
 *
 * @returns undefined when the invitation has lapsed.
 */
export async function issueInvitationToken(
  { box }: OneTimeSecretContext,
  tx: Transaction,
  {
    id: userId,
    email,
    createdAt: invitedAt,
  }: { readonly id: string; readonly email: string; readonly createdAt: Date },
  createdAt: Date,
): Promise<{ readonly token: string; readonly expiresAt: Date } | undefined> {
  const endsAt = new Date(invitedAt.getTime() + secretLifetimes.invitation);
  const issued = await issueSecret(
    box,
    tx,
    { purpose: 'invitation', email, userId, at: createdAt, endsAt },
    tokens,
  );
  return issued && { token: issued.secret, expiresAt: issued.expiresAt };
}

/** Verifies a code and consumes it; a wrong guess is counted. @returns the user; undefined when the code is invalid. */
export function verifyLoginCode(
  { prisma, codeDigests, clock }: OneTimeSecretContext,
  email: string,
  code: string,
): Promise<string | undefined> {
  return verifyCode(prisma, toDigest(email), codeDigests(code, email), new Date(clock()));
}

/** Returns the account that a link belongs to, without consuming it; undefined when the link is invalid. */
export async function findLinkOwner(
  { prisma, clock }: OneTimeSecretContext,
  token: string,
): Promise<FoundLink | undefined> {
  const found = await findLink(prisma, toDigest(token), new Date(clock()));
  if (!found?.user) return undefined;
  const { email, fullName, organisation } = found.user;
  return {
    purpose: found.purpose as LinkPurpose,
    email,
    fullName,
    organisation: organisation.name,
    expiresAt: found.expiresAt.toISOString(),
  };
}

/** Consumes the token as part of the transaction. @returns the user; undefined when the token is invalid. */
export function consumeToken(
  { clock }: OneTimeSecretContext,
  tx: Transaction,
  purpose: LinkPurpose,
  token: string,
): Promise<string | undefined> {
  return consumeLink(tx, purpose, toDigest(token), new Date(clock()));
}

/** Revokes every code and link that was mailed to the user, and resets the count of wrong guesses. */
export async function revokeSecrets(tx: Transaction, userId: string): Promise<void> {
  await deleteSecrets(tx, userId);
}
