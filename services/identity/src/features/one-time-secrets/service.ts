import { toDigest } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../resources.js';
import type { SecretBox } from '../../secret-box.js';
import {
  deleteSecrets,
  extendSecret,
  findLink,
  verifyCode,
  hasLink,
  lockSecret,
  type StoredSecret,
  replaceSecret,
  consumeLink,
} from './queries.js';
import {
  type CodeDigests,
  type LinkPurpose,
  generateCode,
  generateToken,
  secretLifetimes,
  type SecretPurpose,
  WRONG_CODES_PER_DAY,
  WRONG_CODES_WINDOW_MS,
} from './secret.js';

/*
 * A new request must not revoke what was just mailed, or anyone could keep the owner from ever using a code or link. So
 * the same secret is mailed again while at least half of its lifetime is left, and a new one only after that.
 *
 * Invitations are different: an invitation reserves an address, and anyone can request its link again. Its expiry is
 * never extended: the same link is mailed until it expires.
 */

export interface FoundLink {
  readonly purpose: LinkPurpose;
  readonly email: string;
  readonly fullName: string;
  readonly organisation: string;
  readonly expiresAt: string;
}

export interface OneTimeSecrets {
  /**
   * @param userId - null issues a code that authenticates nobody, at the same cost, so that timing reveals nothing.
   * @returns `exhausted` when the day's wrong guesses are used up; undefined when a newer code has been issued.
   */
  issueCode(
    tx: Transaction,
    email: string,
    userId: string | null,
    createdAt: Date,
  ): Promise<{ readonly code: string } | 'exhausted' | undefined>;
  issueResetToken(
    tx: Transaction,
    user: { readonly id: string; readonly email: string },
    createdAt: Date,
  ): Promise<string | undefined>;
  /**
   * Issues the token of an invitation. It expires with the invitation, however often it is mailed.
   *
   * @returns undefined when the invitation has lapsed.
   */
  issueInvitationToken(
    tx: Transaction,
    user: { readonly id: string; readonly email: string; readonly createdAt: Date },
    createdAt: Date,
  ): Promise<{ readonly token: string; readonly expiresAt: Date } | undefined>;
  /** Verifies a code and consumes it; a wrong guess is counted. @returns the user; undefined when the code is invalid. */
  verifyCode(email: string, code: string): Promise<string | undefined>;
  isValid(purpose: LinkPurpose, token: string): Promise<boolean>;
  /** Returns the account that a link belongs to, without consuming it; undefined when the link is invalid. */
  findLink(token: string): Promise<FoundLink | undefined>;
  /** Consumes the token as part of the transaction. @returns the user; undefined when the token is invalid. */
  consume(tx: Transaction, purpose: LinkPurpose, token: string): Promise<string | undefined>;
  /** Revokes every code and link that was mailed to the user, and resets the count of wrong guesses. */
  revokeAll(tx: Transaction, userId: string): Promise<void>;
}

interface SecretRequest {
  readonly purpose: SecretPurpose;
  readonly email: string;
  readonly userId: string | null;
  readonly at: Date;
  /** A fixed expiry, however often the secret is mailed. Undefined: each mail renews the expiry. */
  readonly endsAt: Date | undefined;
}

interface SecretKind {
  make(): string;
  /** Returns the digests of a secret: the first one is stored, any of them is accepted. */
  digests(secret: string): readonly [string, ...string[]];
}

const tokens: SecretKind = { make: generateToken, digests: (secret) => [toDigest(secret)] };

/** The context that binds a sealed secret to its address, so that it can't be opened in another row. */
const sealContext = (purpose: SecretPurpose, subject: string): string =>
  `one-time-secret:${purpose}:${subject}`;

function isExhausted({ triesLeft, triesSince }: StoredSecret, at: Date): boolean {
  return triesLeft <= 0 && triesSince !== null && triesSince.getTime() > at.getTime() - WRONG_CODES_WINDOW_MS;
}

/** Returns whether the stored secret can be mailed again rather than replaced. */
function isReusable(
  present: StoredSecret,
  { purpose, userId, at, endsAt }: Omit<SecretRequest, 'email'>,
): boolean {
  const ageMs = at.getTime() - present.createdAt.getTime();
  const isOpen = present.usedAt === null && present.triesLeft > 0 && present.expiresAt > at;
  const isFresh = endsAt !== undefined || ageMs <= secretLifetimes[purpose] / 2;
  return isOpen && present.userId === userId && ageMs >= 0 && isFresh;
}

export function createOneTimeSecrets(deps: {
  readonly prisma: Prisma;
  readonly codeDigests: CodeDigests;
  readonly box: SecretBox;
  readonly clock: Clock;
}): OneTimeSecrets {
  const { prisma, codeDigests, box, clock } = deps;

  /** @returns undefined when the key is lost or the hash belongs to another secret; a new secret is issued then. */
  function unseal(
    { secretSealed, secretHash }: StoredSecret,
    context: string,
    digests: SecretKind['digests'],
  ): string | undefined {
    try {
      const secret = secretSealed === null ? undefined : box.open(secretSealed, context);
      return secret !== undefined && digests(secret).includes(secretHash) ? secret : undefined;
    } catch {
      return undefined;
    }
  }

  async function issue(
    tx: Transaction,
    { purpose, email, userId, at, endsAt }: SecretRequest,
    { make, digests }: SecretKind,
  ): Promise<{ readonly secret: string; readonly expiresAt: Date } | undefined> {
    const subject = toDigest(email);
    const context = sealContext(purpose, subject);
    const expiresAt = endsAt ?? new Date(at.getTime() + secretLifetimes[purpose]);
    const present = await lockSecret(tx, purpose, subject);
    const isCode = purpose === 'login_code';
    if (present && isReusable(present, { purpose, userId, at, endsAt })) {
      const secret = unseal(present, context, digests);
      if (secret !== undefined) {
        if (endsAt) return { secret, expiresAt: present.expiresAt };
        await extendSecret(tx, purpose, subject, expiresAt);
        return { secret, expiresAt };
      }
    }
    if (expiresAt <= at) return undefined;
    const secret = make();
    const isNewest = await replaceSecret(tx, {
      purpose,
      subject,
      userId,
      secretHash: digests(secret)[0],
      createdAt: at,
      expiresAt,
      secretSealed: box.seal(secret, context),
      triesLeft: isCode ? WRONG_CODES_PER_DAY : 1,
      tries: isCode ? { since: at, goesOnFrom: new Date(at.getTime() - WRONG_CODES_WINDOW_MS) } : null,
    });
    return isNewest ? { secret, expiresAt } : undefined;
  }

  return {
    async issueCode(tx, email, userId, createdAt) {
      const present = await lockSecret(tx, 'login_code', toDigest(email));
      if (present && isExhausted(present, createdAt)) return 'exhausted';
      const request = { purpose: 'login_code', email, userId, at: createdAt, endsAt: undefined } as const;
      const digests = (secret: string) => codeDigests(secret, email);
      const issued = await issue(tx, request, { make: generateCode, digests });
      return issued && { code: issued.secret };
    },
    async issueResetToken(tx, { id: userId, email }, createdAt) {
      const request = { purpose: 'password_reset', email, userId, at: createdAt, endsAt: undefined } as const;
      return (await issue(tx, request, tokens))?.secret;
    },
    async issueInvitationToken(tx, { id: userId, email, createdAt: invitedAt }, createdAt) {
      const endsAt = new Date(invitedAt.getTime() + secretLifetimes.invitation);
      const issued = await issue(tx, { purpose: 'invitation', email, userId, at: createdAt, endsAt }, tokens);
      return issued && { token: issued.secret, expiresAt: issued.expiresAt };
    },
    verifyCode: (email, code) =>
      verifyCode(prisma, toDigest(email), codeDigests(code, email), new Date(clock())),
    isValid: (purpose, token) => hasLink(prisma, purpose, toDigest(token), new Date(clock())),
    async findLink(token) {
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
    },
    consume: (tx, purpose, token) => consumeLink(tx, purpose, toDigest(token), new Date(clock())),
    async revokeAll(tx, userId) {
      await deleteSecrets(tx, userId);
    },
  };
}
