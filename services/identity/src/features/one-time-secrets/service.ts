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
 * Asking again must not void what was just mailed, or anyone could keep somebody from ever using a code or link in time.
 * So while a secret has half of its time or more left it is mailed again, and a new one only after that.
 *
 * An invitation is another matter: it keeps an address taken, and anyone can ask for its link. It is never extended: the
 * same link is mailed until it expires.
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
   * @param userId - null makes one that opens nothing, at the same cost.
   * @returns `exhausted` when the wrong guesses of the day are used up; undefined when a newer code has been issued.
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
   * The token expires when the invitation does, however often it is mailed.
   *
   * @returns undefined when the invitation has lapsed.
   */
  issueInvitationToken(
    tx: Transaction,
    user: { readonly id: string; readonly email: string; readonly createdAt: Date },
    createdAt: Date,
  ): Promise<{ readonly token: string; readonly expiresAt: Date } | undefined>;
  /** A wrong one counts. @returns the user whose code it was. */
  verifyCode(email: string, code: string): Promise<string | undefined>;
  isValid(purpose: LinkPurpose, token: string): Promise<boolean>;
  /** @returns whose link it is; undefined when it doesn't work. */
  findLink(token: string): Promise<FoundLink | undefined>;
  /** Uses the token up with what the transaction does. @returns the user; undefined when it doesn't work. */
  consume(tx: Transaction, purpose: LinkPurpose, token: string): Promise<string | undefined>;
  /** Ends everything that was mailed to the user, and forgets their wrong guesses. */
  revokeAll(tx: Transaction, userId: string): Promise<void>;
}

interface SecretRequest {
  readonly purpose: SecretPurpose;
  readonly email: string;
  readonly userId: string | null;
  readonly at: Date;
  /** When it expires, however often it is mailed. Undefined: each mail renews it. */
  readonly endsAt: Date | undefined;
}

interface SecretKind {
  make(): string;
  /** The stored forms: the first is written, all are recognised. */
  digests(secret: string): readonly [string, ...string[]];
}

const tokens: SecretKind = { make: generateToken, digests: (secret) => [toDigest(secret)] };

/** A sealed secret that is copied to another address can't be opened there. */
const sealContext = (purpose: SecretPurpose, subject: string): string =>
  `one-time-secret:${purpose}:${subject}`;

function isExhausted({ triesLeft, triesSince }: StoredSecret, at: Date): boolean {
  return triesLeft <= 0 && triesSince !== null && triesSince.getTime() > at.getTime() - WRONG_CODES_WINDOW_MS;
}

/** Whether the present secret is mailed again, rather than replaced. */
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

  /** @returns undefined when its key is gone, or it isn't what the hash is of: then a new secret is made. */
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
