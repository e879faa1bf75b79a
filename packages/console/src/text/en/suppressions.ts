import { createTexts } from '../isolate.ts';

/** The texts of the addresses that get no mail. */
export const suppressions = createTexts({
  intro:
    'Addresses that get no mail for 90 days, apart from codes, password resets and invitations: servers refused them for good, a provider reported them, or an administrator added them.',
  search: 'Search addresses',
  columns: { address: 'Address', reason: 'Reason', since: 'Since', until: 'Until' },
  reasons: {
    refused: 'Refused by the server',
    bounce: 'Bounced',
    complaint: 'Reported as spam',
    administrator: 'Added by an administrator',
  },
  noMatch: 'No address matches',
  emptyTitle: 'No address is suppressed',
  emptyAdvice: 'Addresses that a server refuses for good appear here by themselves.',
  add: 'Suppress an address',
  addFirst: 'Suppress the first address',
  address: 'Address',
  addSubmit: 'Suppress',
  added: (address: string) => `${address} gets no mail for 90 days`,
  remove: 'Send mail again…',
  removeTitle: (address: string) => `Send mail to ${address} again?`,
  removeWarning:
    'If the address is refused again, it is suppressed again. Many refused mails harm the reputation of the sender.',
  removeSubmit: 'Send mail again',
  removed: (address: string) => `${address} gets mail again`,
  export: 'Export as CSV',
  exported: 'The list is saved',
});
