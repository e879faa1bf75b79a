import { createTexts } from '../isolate.ts';

/** The texts of the list of tokens, and of the dialogs that create and revoke one. */
export const tokens = createTexts({
  intro: 'A token acts as you. Give each one only the permissions that it needs.',
  create: 'New token',
  emptyTitle: 'You have no tokens',
  emptyAdvice: 'Create one for each agent or script, so that you can revoke it without touching the others.',
  filter: 'Filter by name or description',
  noMatch: 'No token matches',
  columns: {
    name: 'Name',
    scopes: 'Permissions',
    state: 'Status',
    lastUsed: 'Last used',
    expires: 'Expires',
  },
  states: { active: 'Active', expiring: 'Expires soon', expired: 'Expired' },
  neverUsed: 'Never used',
  createFirst: 'Create a token',
  expiresOn: 'expires',
  neverExpires: 'never expires',
  purpose: 'What is it for?',
  purposes: {
    reader: { label: 'An agent that reads', hint: 'It sees what you see, and changes nothing.' },
    scheduler: {
      label: 'A script that schedules crawls',
      hint: 'It schedules, pauses and resumes crawls, and reads their state.',
    },
    mailer: { label: 'A program that sends mail', hint: 'It sends the platform’s template mails.' },
    other: { label: 'Something else', hint: 'Choose the permissions yourself.' },
  },
  name: 'Name',
  nameHint: 'Where it is used, such as “Laptop, Claude Code”.',
  scopes: 'Permissions',
  scopeCount: (chosen: number, total: number) => `${chosen} of ${total}`,
  advanced: 'Advanced',
  scopesMissing: 'Choose at least one permission.',
  adminOnly: 'while you are an administrator',
  expiry: 'Expires after',
  expiries: { '30': '30 days', '90': '90 days', '365': '1 year', never: 'Never' },
  expiryNever: 'A token without an end works until somebody revokes it. Prefer a date.',
  submit: 'Create token',
  shown: {
    title: 'Your new token',
    warning: 'Copy it now. It is shown this once, and cannot be shown again.',
    value: 'Token',
    use: 'Use it with',
    variable:
      'The commands put the token in the variable PLATFORM_TOKEN, which the client reads; its files hold no token.',
  },
  revoke: 'Revoke…',
  revokeTitle: (name: string) => `Revoke “${name}”?`,
  revokeTitleOf: (name: string, owner: string) => `Revoke “${name}” of ${owner}?`,
  revokeWarning:
    'Whatever uses it is refused at once, and so are the tokens that it created. This cannot be undone.',
  reason: 'Reason',
  reasonHint: 'Optional; kept in the audit log.',
  revokeSubmit: 'Revoke token',
  revoked: (name: string, count: number) =>
    count === 1 ? `“${name}” is revoked.` : `“${name}” is revoked, with ${count - 1} that it created.`,
});
