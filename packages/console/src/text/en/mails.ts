import { createTexts } from '../isolate.ts';

/** The texts of the journal of mails, and of one mail. */
export const mails = createTexts({
  one: 'Mail',
  intro: 'What the platform has sent, what it could not, and why.',
  filter: 'Search by subject or address',
  noMatch: 'No mail matches',
  emptyTitle: 'No mail has been sent',
  inviteFirst: 'Invite a member',
  emptyAdvice: 'Invitations, codes and whatever a token with SEND_MAIL sends appear here.',
  columns: { subject: 'Subject', to: 'To', state: 'State', reason: 'Reason', at: 'When' },
  from: 'From',
  cc: 'Cc',
  recipients: 'Recipients',
  outcomes: {
    accepted: 'has it',
    refused: 'refused by the server',
    deferred: 'is tried again',
    suppressed: 'suppressed',
    pending: 'waits',
    failed: 'failed',
    unknown: 'unknown',
  },
  template: 'Template',
  id: 'Mail id',
  serverReply: 'Reply of the server',
  states: {
    any: 'Any',
    sent: 'Sent',
    failed: 'Failed',
    unknown: 'Unknown',
    queued: 'Waiting',
    sending: 'In progress',
  },
  explanations: {
    sent: 'The SMTP server has taken it.',
    failed: 'It was not sent.',
    unknown: 'The connection broke after it was handed over: it may have arrived, or not.',
    queued: 'It is tried again until the server takes it, or it expires.',
    sending: 'It is being sent.',
  },
  content: {
    title: 'Sent message',
    rendered:
      'Rendered again from its template and its data. Codes and links are replaced, because they let people in: they are not kept, and attachments are not either.',
    keptForResend: 'The request itself is kept encrypted, only so that it can be sent again.',
    notKept: 'What was in it is not kept, or no longer. The template shows what it looked like:',
  },
  resend: 'Send again…',
  resendTitle: (to: string) => `Send it to ${to} again?`,
  resendSeveral: (count: number) => (count === 1 ? 'Send one mail again?' : `Send ${count} mails again?`),
  resentSeveral: (count: number) =>
    count === 1 ? 'One mail is sent again.' : `${count} mails are sent again.`,
  nameOf: (subject: string, to: string) => `${subject}, to ${to}`,
  resendFailed: 'It was not sent before. It is sent unchanged, under a new record.',
  resendUnknown: 'It may have arrived before: the recipient may then have it twice.',
  resendSubmit: 'Send again',
  notResendable:
    'It can’t be sent again from here: what it held, such as a code or a file, is not kept. Whoever sent it can send another.',
});
