/** The measured screens by the names of their figures: one screen of each kind. */
export const screens = {
  start: { path: '/', link: 'Getting started' },
  tokens: { path: '/account/tokens', link: 'My tokens' },
  crawls: { path: '/crawls', link: 'Crawls' },
  queue: { path: '/crawls/queue', link: 'Queue' },
  mails: { path: '/mails', link: 'Mails' },
  members: { path: '/organisation/members', link: 'Members' },
  audit: { path: '/organisation/audit', link: 'Audit log' },
} as const;
