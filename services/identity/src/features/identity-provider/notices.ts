import type { Transaction } from '../../resources.js';
import type { Caller } from '../audit/actor.js';
import { findAdministrators } from '../configuration/queries.js';
import { describeRequest } from '../known-devices/client.js';
import type { Outbox } from '../outgoing-mails/outbox.js';

const headlines = {
  saved: 'The identity provider of your organisation was changed',
  removed: 'The identity provider of your organisation was removed',
  domainVerified: 'A domain of your organisation was verified',
  domainRemoved: 'A domain of your organisation was removed',
} as const;

/** Mails every administrator about a change of who can sign in, in the transaction of the change. */
export type NotifyAdministrators = (
  tx: Transaction,
  caller: Caller,
  kind: keyof typeof headlines,
  what: string,
  at: Date,
) => Promise<void>;

export const createNotifyAdministrators =
  (outbox: Outbox): NotifyAdministrators =>
  async (tx, caller, kind, what, at) => {
    const { orgId, fullName, email, client } = caller;
    const message = `${what} Changed by ${fullName} (${email}). If that was not agreed on, end their sessions and change the setting back.`;
    const detail = { headline: headlines[kind], message, ...describeRequest(client, at) };
    for (const { id } of await findAdministrators(tx, orgId))
      await outbox.add(
        tx,
        { kind: 'token_alert', to: { userId: id }, detail, requestId: client.requestId },
        at,
      );
  };
