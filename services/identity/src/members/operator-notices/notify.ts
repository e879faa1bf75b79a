import type { Transaction } from '../../prisma.js';
import { findAdministrators } from '../organisation/administration.js';
import { commandOutbox } from '../../mails/outbox/outbox.js';
import { type Alert, storeAlert } from '../../mails/alerts.js';

/** A change that an operator has made in an organisation. */
export interface OperatorChange {
  readonly orgId: string;
  /** The account that it concerns, which is mailed too; undefined for the organisation's settings. */
  readonly userId?: string;
  /** Changes of one topic are counted together (PAT-35). */
  readonly topic: string;
  readonly alert: Alert;
  readonly at: Date;
}

/**
 * Mails every administrator, in the transaction of the change: a command leaves no other trace that they would look at. What
 * concerns an account is counted by itself, so that its owner is notified however many others the operator changes.
 */
export async function notifyOfCommand(tx: Transaction, change: OperatorChange): Promise<void> {
  const { orgId, userId, topic, alert, at } = change;
  const store = (causedBy: string, recipients: readonly string[]): Promise<void> => {
    const request = { topic, causedBy, recipients, alert, client: null, at };
    return storeAlert(tx, commandOutbox, request);
  };
  const administrators = (await findAdministrators(tx, orgId)).map(({ id }) => id);
  await store(
    orgId,
    administrators.filter((id) => id !== userId),
  );
  if (userId !== undefined) await store(userId, [userId]);
}
