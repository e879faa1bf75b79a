import { createTexts } from '../isolate.ts';

/** The texts of the page of one token. */
export const token = createTexts({
  title: 'Token',
  states: { active: 'Active', expired: 'Expired', revoked: 'Revoked' },
  edit: 'Edit…',
  editTitle: (name: string) => `Edit “${name}”`,
  saved: 'The token is changed.',
  description: 'Description',
  narrowHint:
    'Permissions and addresses can be removed, not added. Then the tokens that this one created are revoked.',
  allowList: 'Allowed addresses',
  allowListHint: 'CIDR ranges, one a line, such as 203.0.113.0/24. Empty: any address.',
  anyAddress: 'Any',
  bounds: 'Limited to',
  noBounds: 'Nothing further',
  notices: 'Notices of its expiry',
  noticesMuted: 'Muted',
  noticesMailed: 'By mail, before and when it expires',
  mailNotices: 'Mail before and when it expires',
  created: 'Created',
  revokedAt: 'Revoked',
  rotate: 'Rotate…',
  rotateTitle: (name: string) => `Replace “${name}” by a new token?`,
  rotateHint: 'Put the new one where the old one is used, before the old one ends.',
  rotateSubmit: 'Create the new token',
  grace: 'The old token works for another',
  graces: {
    '0': 'moment: it ends at once',
    '60': 'minute',
    '3600': 'hour',
    '86400': 'day',
    '604800': 'week',
  },
});
