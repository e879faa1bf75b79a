import type { Transaction } from '../../resources.js';
import type { ClientAddress } from '../../base/caller/client.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import type { Alert } from '../../mails/alerts/alerts.js';
import { limitAlert } from '../../mails/alerts/limited-alerts.js';
import { storeAlert } from '../../mails/alerts/queries.js';

const notices = {
  enrolled: {
    headline: 'A second factor was added to your account',
    message: 'An authenticator app was set up: signing in needs its code from now on.',
  },
  passkeyEnrolled: {
    headline: 'A passkey was added to your account',
    message: 'Signing in needs a second factor from now on, and the passkey is one.',
  },
  passkeyRemoved: {
    headline: 'A passkey of your account was removed',
    message: 'It does not work any more.',
  },
  counterFell: {
    headline: 'A passkey of your account may have been copied',
    message:
      'It was refused, because it counts its uses and counted backwards: two devices seem to have it. Remove it, and set up a new one.',
  },
  removed: {
    headline: 'The authenticator app of your account was removed',
    message: 'Its codes do not work any more.',
  },
  reset: {
    headline: 'The second factor of your account was reset',
    message: 'An administrator removed it and ended your sessions. Set up a new one after the next sign-in.',
  },
  renewed: {
    headline: 'Your recovery codes were replaced',
    message: 'The codes that you had before do not work any more.',
  },
  used: {
    headline: 'A recovery code was used at your account',
    message: 'Each code works once. Create new ones when few are left.',
  },
  exhausted: {
    headline: 'Too many wrong codes at your sign-in',
    message:
      'Somebody who knows your password, or reads your mail, entered 30 wrong codes in a day. Until the day is over, only recovery codes work.',
  },
} as const;
type NoticeKind = keyof typeof notices;

const ADVICE = 'If this was not you, choose a new password now and tell your administrator.';

const describeNotice = (kind: NoticeKind): Alert => ({
  headline: notices[kind].headline,
  message: `${notices[kind].message} ${ADVICE}`,
});

/** Mails the member, in the transaction of what they are told. */
export function addNotice(
  { outbox }: { readonly outbox: Outbox },
  tx: Transaction,
  userId: string,
  kind: NoticeKind,
  { client, at }: { readonly client: ClientAddress | null; readonly at: Date },
): Promise<void> {
  const alert = limitAlert(outbox, {
    topic: `second-factor-${kind}`,
    causedBy: userId,
    recipients: [userId],
    alert: describeNotice(kind),
    client,
    at,
  });
  return storeAlert(tx, alert, at);
}
