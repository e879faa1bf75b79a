import type { Transaction } from '../../resources.js';
import type { Caller } from '../../base/caller/actor.js';
import { findAdministrators } from '../../members/organisation/administration.js';
import type { ClientAddress } from '../../base/caller/client.js';
import { notifyOfCommand } from '../../members/operator-notices/notify.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import { limitAlert } from '../../mails/alerts/limited-alerts.js';
import { storeAlert } from '../../mails/alerts/queries.js';

const headlines = {
  saved: 'The identity provider of your organisation was changed',
  removed: 'The identity provider of your organisation was removed',
  domainVerified: 'A domain of your organisation was verified',
  domainRemoved: 'A domain of your organisation was removed',
  requirementLifted: 'Your organisation no longer requires its identity provider',
} as const;

/** What members may do again without the provider. */
export const REQUIREMENT_LIFTED = 'Members can sign in with their passwords and with mailed codes again.';

/** What a changed domain means for members: the same whether an administrator or an operator changes it. */
export const describeVerified = (domain: string): string =>
  `The identity provider of your organisation now signs in members of ${domain}.`;
export const describeRemoved = (domain: string): string =>
  `Members of ${domain} can no longer sign in with the identity provider.`;

/** Mails every administrator about a change of who can sign in, in the transaction of the change. */
export async function notifyAdministrators(
  { outbox }: { readonly outbox: Outbox },
  tx: Transaction,
  caller: Caller,
  kind: keyof typeof headlines,
  what: string,
  at: Date,
): Promise<void> {
  const { orgId, userId, fullName, email, client } = caller;
  const message = `${what} Changed by ${fullName} (${email}). If that was not agreed on, end their sessions and change the setting back.`;
  const alert = limitAlert(outbox, {
    topic: `identity-provider-${kind}`,
    causedBy: userId,
    recipients: (await findAdministrators(tx, orgId)).map(({ id }) => id),
    alert: { headline: headlines[kind], message },
    client,
    at,
  });
  await storeAlert(tx, alert, at);
}

/** Mails every administrator about a change that an operator makes by command, in the transaction of the change. */
export const notifyByCommand = (
  tx: Transaction,
  orgId: string,
  kind: keyof typeof headlines,
  what: string,
  at: Date,
): Promise<void> =>
  notifyOfCommand(tx, { orgId, topic: `identity-provider-${kind}`, headline: headlines[kind], what, at });

const links = {
  linked: {
    headline: 'Your account is connected with the identity provider of your organisation',
    message: 'You sign in with it from now on. If this was not you, tell your administrator.',
  },
  unlinked: {
    headline: 'Your account was disconnected from the identity provider',
    message: 'An administrator did this. Your next sign-in with the provider connects it again.',
  },
  unlinkedOwn: {
    headline: 'You disconnected your account from the identity provider',
    message:
      'Your next sign-in with the provider connects it again. If this was not you, choose a new password now and tell your administrator.',
  },
} as const;

/** Mails a member about the connection of their account, in the transaction of the change. */
export function notifyMember(
  { outbox }: { readonly outbox: Outbox },
  tx: Transaction,
  userId: string,
  kind: keyof typeof links,
  { client, at }: { readonly client: ClientAddress; readonly at: Date },
): Promise<void> {
  const topic = `identity-provider-${kind}`;
  const alert = { topic, causedBy: userId, recipients: [userId], alert: links[kind], client, at };
  return storeAlert(tx, limitAlert(outbox, alert), at);
}
