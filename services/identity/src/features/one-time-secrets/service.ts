import { digestOf } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../resources.js';
import { deleteSecretsOf, guessCode, hasLink, replaceSecret, takeLink } from './queries.js';
import {
  CODE_TRIES,
  type CodeDigests,
  type LinkPurpose,
  makeCode,
  makeToken,
  secretLifetimes,
} from './secret.js';

export interface OneTimeSecrets {
  /**
   * @param userId - null makes one that opens nothing, at the same cost.
   * @returns undefined when a newer one has been issued.
   */
  issueCode(
    tx: Transaction,
    email: string,
    userId: string | null,
    createdAt: Date,
  ): Promise<string | undefined>;
  issueToken(
    tx: Transaction,
    purpose: LinkPurpose,
    user: { readonly id: string; readonly email: string },
    createdAt: Date,
  ): Promise<string | undefined>;
  /** Counts as a try, right or wrong. @returns the user whose code it was. */
  guessCode(email: string, code: string): Promise<string | undefined>;
  isValid(purpose: LinkPurpose, token: string): Promise<boolean>;
  /** Uses the token up with what the transaction does. @returns the user; undefined when it doesn't work. */
  take(tx: Transaction, purpose: LinkPurpose, token: string): Promise<string | undefined>;
  /** Ends everything that was mailed to the user. */
  forget(tx: Transaction, userId: string): Promise<void>;
}

export function createOneTimeSecrets(deps: {
  readonly prisma: Prisma;
  readonly codeDigests: CodeDigests;
  readonly clock: Clock;
}): OneTimeSecrets {
  const { prisma, codeDigests, clock } = deps;
  const expiry = (purpose: keyof typeof secretLifetimes, createdAt: Date): Date =>
    new Date(createdAt.getTime() + secretLifetimes[purpose]);
  return {
    async issueCode(tx, email, userId, createdAt) {
      const code = makeCode();
      const [secretHash] = codeDigests(code, email);
      const expiresAt = expiry('login_code', createdAt);
      const secret = { purpose: 'login_code', subject: digestOf(email), userId, secretHash } as const;
      const isNewest = await replaceSecret(tx, { ...secret, createdAt, expiresAt, triesLeft: CODE_TRIES });
      return isNewest ? code : undefined;
    },
    async issueToken(tx, purpose, { id: userId, email }, createdAt) {
      const token = makeToken();
      const secret = { purpose, subject: digestOf(email), userId, secretHash: digestOf(token) };
      const expiresAt = expiry(purpose, createdAt);
      const isNewest = await replaceSecret(tx, { ...secret, createdAt, expiresAt, triesLeft: 1 });
      return isNewest ? token : undefined;
    },
    guessCode: (email, code) =>
      guessCode(prisma, digestOf(email), codeDigests(code, email), new Date(clock())),
    isValid: (purpose, token) => hasLink(prisma, purpose, digestOf(token), new Date(clock())),
    take: (tx, purpose, token) => takeLink(tx, purpose, digestOf(token), new Date(clock())),
    async forget(tx, userId) {
      await deleteSecretsOf(tx, userId);
    },
  };
}
