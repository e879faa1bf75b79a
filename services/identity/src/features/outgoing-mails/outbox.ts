import { v7 as uuidv7 } from 'uuid';
import type { Prisma, Transaction } from '../../resources.js';
import { lifetimeOf, type MailKind } from './mail-kind.js';
import { insertMail } from './queries.js';

export interface MailRequest {
  readonly kind: MailKind;
  /** An account, or an address as somebody typed it: nothing is looked up here. */
  readonly to: { readonly userId: string } | { readonly email: string };
  /** What the mail tells beside the account's own data. No secrets. */
  readonly detail?: Readonly<Record<string, string>>;
  /** Of the request that causes the mail: the mail service gets it as `x-request-id`. */
  readonly requestId: string | null;
}

/** Mails that must not be lost, and whose sending no answer waits for. */
export interface Outbox {
  /** False without a mail service: then `add` does nothing. */
  readonly isEnabled: boolean;
  /** Written with what caused it; sent after that was committed, once `wake` is called or soon after. */
  add(db: Prisma | Transaction, request: MailRequest, at: Date): Promise<void>;
  wake(): void;
}

/** @param wake - of the sending job; undefined when there is no mail service. */
export const createOutbox = (wake: (() => void) | undefined): Outbox => ({
  isEnabled: wake !== undefined,
  async add(db, { kind, to, detail = {}, requestId }, at) {
    if (!wake) return;
    await insertMail(db, {
      id: uuidv7(),
      kind,
      userId: 'userId' in to ? to.userId : null,
      email: 'email' in to ? to.email : null,
      detail,
      requestId,
      createdAt: at,
      expiresAt: new Date(at.getTime() + lifetimeOf(kind)),
      nextAttemptAt: at,
    });
  },
  wake: () => wake?.(),
});
