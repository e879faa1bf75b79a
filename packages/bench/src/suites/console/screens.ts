/** One screen of each kind, with the name of its link. */
export const screens = [
  { path: '/', link: 'Getting started' },
  { path: '/account/tokens', link: 'My tokens' },
  { path: '/crawls', link: 'Crawls' },
  { path: '/crawls/queue', link: 'Queue' },
  { path: '/mails', link: 'Mails' },
  { path: '/organisation/members', link: 'Members' },
  { path: '/organisation/audit', link: 'Audit log' },
] as const;
