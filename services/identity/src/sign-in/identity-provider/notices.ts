import type { Transaction } from '../../prisma.js';
import type { Caller } from '../../base/caller/actor.js';
import { findAdministrators } from '../../members/organisation/administration.js';
import type { ClientAddress } from '../../base/caller/client.js';
import { notifyOfCommand } from '../../members/operator-notices/notify.js';
import type { NoticeCode } from '../../mails/outbox/email-request.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import { type Alert, storeAlert } from '../../mails/alerts.js';

const toTopic = ({ notice }: Alert): string => `identity-provider-${notice}`;

/** Mails every administrator about a change of who can sign in, in the transaction of the change. */
export async function notifyAdministrators(
  { outbox }: { readonly outbox: Outbox },
  tx: Transaction,
  caller: Caller,
  facts: Alert,
  at: Date,
): Promise<void> {
  const { orgId, userId, fullName, email, client } = caller;
  await storeAlert(tx, outbox, {
    topic: toTopic(facts),
    causedBy: userId,
    recipients: (await findAdministrators(tx, orgId)).map(({ id }) => id),
    alert: { ...facts, by: `${fullName} (${email})` },
    client,
    at,
  });
}

/** Mails every administrator about a change that an operator makes by command, in the transaction of the change. */
export const notifyByCommand = (tx: Transaction, orgId: string, alert: Alert, at: Date): Promise<void> =>
  notifyOfCommand(tx, { orgId, topic: toTopic(alert), alert, at });

/** Mails a member about the connection of their account, in the transaction of the change. */
export function notifyMember(
  { outbox }: { readonly outbox: Outbox },
  tx: Transaction,
  userId: string,
  notice: NoticeCode,
  { client, at }: { readonly client: ClientAddress; readonly at: Date },
): Promise<void> {
  const alert = { notice };
  const request = { topic: toTopic(alert), causedBy: userId, recipients: [userId], alert, client, at };
  return storeAlert(tx, outbox, request);
}
