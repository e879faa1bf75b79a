import { createTexts } from '../isolate.ts';

/** The texts of who can use what, and why. */
export const access = createTexts({
  title: 'Who can use this',
  hint: 'As it is now, for each person by session, and for a service account by a token that has all it can hold. A token or a connection can be limited further.',
  titleOf: (name: string) => `Who can use ${name}?`,
  open: 'Who can use it…',
  search: 'Search by name or address',
  kinds: { label: 'Kind', user: 'People', service_account: 'Service accounts' },
  columns: { name: 'Name', decision: 'Can use it', reason: 'Why' },
  yes: 'Yes',
  no: 'No',
  reads: 'Its tools that read',
  readsAndWrites: 'Its tools that read, and those that write',
  writes: 'Its tools that write',
  permitted: 'Nothing keeps them from it.',
  reasons: {
    incomplete: 'The question lacks a part.',
    unknown_subject: 'The account has been removed.',
    unknown_resource: 'It is not in effect: nobody can use it.',
    unknown_action: 'No tool is in effect: nobody can use it.',
    inactive: 'The account has ended or was suspended.',
    bound: 'The credential is limited to other things.',
    group: 'It is for groups that they are not in.',
    role: 'It is for administrators.',
    scope: 'The permission is missing.',
    policy: 'The policy of the organisation denies the permission.',
    session: 'It needs a token.',
    audience: 'The connection is for another service.',
  },
  noMatch: 'Nobody matches',
  emptyTitle: 'There is nobody yet',
});
