import type { Transaction } from '../../resources.js';
import { findAdministrators } from '../configuration/queries.js';
import { commandOutbox } from '../outgoing-mails/outbox.js';
import { limitAlert } from '../token-alerts/limited-alerts.js';
import { storeAlert } from '../token-alerts/queries.js';

/** A change that an operator has made in an organisation. */
export interface OperatorChange {
  readonly orgId: string;
  /** The account that it concerns, which is mailed too; undefined for the organisation's settings. */
  readonly userId?: string;
  /** Changes of one topic are counted together (PAT-35). */
  readonly topic: string;
  readonly headline: string;
  readonly what: string;
  readonly at: Date;
}

/** Mails every administrator, in the transaction of the change: a command leaves no other trace that they would look at. */
export async function notifyOfCommand(tx: Transaction, change: OperatorChange): Promise<void> {
  const { orgId, userId, topic, headline, what, at } = change;
  const administrators = (await findAdministrators(tx, orgId)).map(({ id }) => id);
  const alert = limitAlert(commandOutbox, {
    topic,
    causedBy: orgId,
    recipients: [...new Set(userId === undefined ? administrators : [...administrators, userId])],
    alert: {
      headline,
      message: `${what} An operator of the platform did this. If it is unexpected, ask them.`,
    },
    client: null,
    at,
  });
  await storeAlert(tx, alert, at);
}
