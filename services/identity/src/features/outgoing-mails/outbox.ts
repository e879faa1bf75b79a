import { v7 as uuidv7 } from 'uuid';
import type { Prisma, Transaction } from '../../resources.js';
import { getLifetime, type MailKind } from './mail-kind.js';
import type { SecretBox } from '../../secret-box.js';
import type { SendEmailRequest } from './emails.js';
import { insertMail, insertMails } from './queries.js';

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
  /** Letters that are whole already, each to a member: they are stored sealed, and sent as they are. */
  addMessages(
    db: Transaction,
    kind: MailKind,
    messages: readonly { readonly userId: string; readonly message: SendEmailRequest }[],
    requestId: string,
    at: Date,
  ): Promise<void>;
  wake(): void;
}

/** Binds the sealed message to its row. */
export const messageContext = (id: string): string => `outgoing-mail:${id}`;

/** @param wake - of the sending job; undefined when there is no mail service. */
export const createOutbox = (wake: (() => void) | undefined, box: SecretBox): Outbox => ({
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
      expiresAt: new Date(at.getTime() + getLifetime(kind)),
      nextAttemptAt: at,
    });
  },
  async addMessages(db, kind, messages, requestId, at) {
    if (!wake || messages.length === 0) return;
    const times = { createdAt: at, expiresAt: new Date(at.getTime() + getLifetime(kind)), nextAttemptAt: at };
    await insertMails(
      db,
      messages.map(({ userId, message }) => {
        const id = uuidv7();
        const letterSealed = box.seal(JSON.stringify(message), messageContext(id));
        return { id, kind, userId, email: null, detail: {}, letterSealed, requestId, ...times };
      }),
    );
  },
  wake: () => wake?.(),
});
