import type { SecretBox } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { SqlClient } from '../../base/sql-client.js';
import { getLifetime, type MailKind } from './mail-kind.js';
import type { SendEmailRequest } from './email-request.js';
import { insertMails, type NewMail } from './outbox.sql.js';

export interface MailRequest {
  readonly kind: MailKind;
  /** An account, or an address as it was entered. The outbox doesn't look the account up. */
  readonly to: { readonly userId: string } | { readonly email: string };
  /** The content of the mail beside the account's own data. It must not contain secrets. */
  readonly detail?: Readonly<Record<string, string>>;
  /** The id of the request that causes the mail, which is passed to the mail service as `x-request-id`. */
  readonly requestId: string | null;
  /** Whether the mail reports a possible theft: it is sent before all others. */
  readonly reportsTheft?: boolean;
  /** The mail is held, and sent as one with those to the same person that have the same key by then. */
  readonly mergeKey?: string;
  /** How long a mail with a `mergeKey` is held, in milliseconds. Default: a minute. */
  readonly holdMs?: number;
}

/** People create several tokens in a row within this time. */
const HOLD_MS = 60_000;

/** Stores mails durably for the sending job, so that no response waits for the mail service. */
export interface Outbox {
  /** False when there is no mail service; `add` then does nothing. */
  readonly isEnabled: boolean;
  /** Stores mails in the transaction that causes them. After the commit, `wake` has them sent at once; polling finds them too. */
  add(db: SqlClient, mails: MailRequest | readonly MailRequest[], at: Date): Promise<void>;
  /** Stores complete messages, each to a member. They are sealed, and sent unchanged. */
  addMessages(
    db: SqlClient,
    kind: MailKind,
    messages: readonly { readonly userId: string; readonly message: SendEmailRequest }[],
    requestId: string,
    at: Date,
  ): Promise<void>;
  wake(): void;
}

/** The context that binds a sealed message to its row. */
export const messageContext = (id: string): string => `outgoing-mail:${id}`;

const toNewMail = (
  { kind, to, detail = {}, requestId, reportsTheft = false, mergeKey, holdMs = HOLD_MS }: MailRequest,
  at: Date,
): NewMail => ({
  id: uuidv7(),
  kind,
  userId: 'userId' in to ? to.userId : null,
  email: 'email' in to ? to.email : null,
  detail,
  requestId,
  createdAt: at,
  expiresAt: new Date(at.getTime() + getLifetime(kind)),
  nextAttemptAt: mergeKey === undefined ? at : new Date(at.getTime() + holdMs),
  reportsTheft,
  mergeKey: mergeKey ?? null,
  sealedMessage: null,
});

/**
 * The outbox of commands: a replica sends what they store. They don't know whether there is a mail service; without one,
 * the mails are deleted when they expire.
 */
export const commandOutbox: Pick<Outbox, 'isEnabled' | 'add'> = {
  isEnabled: true,
  async add(db, mails, at) {
    await insertMails(
      db,
      [mails].flat().map((mail) => toNewMail(mail, at)),
    );
  },
};

/** @param wake - wakes the sending job; undefined when there is no mail service. */
export const createOutbox = (wake: (() => void) | undefined, box: SecretBox): Outbox => ({
  isEnabled: wake !== undefined,
  async add(db, mails, at) {
    if (wake) await commandOutbox.add(db, mails, at);
  },
  async addMessages(db, kind, messages, requestId, at) {
    if (!wake) return;
    await insertMails(
      db,
      messages.map(({ userId, message }) => {
        const mail = toNewMail({ kind, to: { userId }, requestId }, at);
        return { ...mail, sealedMessage: box.seal(JSON.stringify(message), messageContext(mail.id)) };
      }),
    );
  },
  wake: () => wake?.(),
});
