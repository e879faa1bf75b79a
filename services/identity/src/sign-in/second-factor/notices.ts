import type { Transaction } from '../../prisma.js';
import type { ClientAddress } from '../../base/caller/client.js';
import type { NoticeCode } from '../../mails/outbox/email-request.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import { storeAlert } from '../../mails/alerts.js';

/** Mails the member, in the transaction of the reported change. */
export function addNotice(
  { outbox }: { readonly outbox: Outbox },
  tx: Transaction,
  userId: string,
  notice: NoticeCode,
  { client, at }: { readonly client: ClientAddress | null; readonly at: Date },
): Promise<void> {
  return storeAlert(tx, outbox, {
    topic: `second-factor-${notice}`,
    causedBy: userId,
    recipients: [userId],
    alert: { notice },
    client,
    at,
  });
}
