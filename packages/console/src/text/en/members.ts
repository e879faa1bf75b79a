import { createTexts } from '../isolate.ts';

/** The texts of the members of the organisation. */
export const members = createTexts({
  one: 'Member',
  page: {
    groups: 'Groups',
    lastSeen: 'Last seen',
    id: 'Member id',
    stops: 'What stops when they are removed, and what does not',
    tokens: 'Their tokens',
    audit: 'What they did',
    endSessions: 'They have to sign in again. Tokens and connected apps keep working.',
    disconnect: 'The account is no longer connected with an identity at your provider.',
    tools: 'Tools of MCP servers that they can use',
    toolsHint: 'With a session. Their tokens and connected apps can be limited further.',
    noTools: 'None.',
    moreTools: 'And more.',
  },
  intro: 'Who belongs to your organisation, and what they may do.',
  invite: 'Invite a member',
  inviteSubmit: 'Send the invitation',
  invited: (email: string) => `${email} is invited by mail.`,
  invitedUnsure: (email: string) =>
    `${email} is invited, but it could not be read whether a mail can be sent. If none arrives, send the invitation again from the list.`,
  email: 'E-mail address',
  emailHint: 'The invitation goes there, and it is what they sign in with.',
  fullName: 'Full name',
  memberHint: 'Creates and revokes own tokens, and uses the tools.',
  adminHint: 'Also manages members, tokens of others, crawls, mail and the settings.',
  demoteHint:
    'They can no longer manage anything. What only administrators may do stops working for their tokens at once.',
  columns: { name: 'Name', role: 'Role', state: 'State', secondFactor: 'Second factor' },
  secondFactors: { totp: 'App', passkey: 'Passkey' },
  noSecondFactor: 'None',
  you: (name: string) => `${name} (you)`,
  joined: 'Joined',
  invitations: { pending: 'Invited', undeliverable: 'Not delivered', unknown: 'Delivery unknown' },
  makeAdmin: 'Make administrator…',
  makeMember: 'Make member…',
  endSessions: 'End sessions…',
  remove: 'Remove…',
  repeat: 'Send the invitation again…',
  repeatTitle: (name: string) => `Invite ${name} again?`,
  repeatSubmit: 'Send again',
  repeatHint: (email: string) =>
    `${email} gets the same link again; it ends when it would have. Without an SMTP server you get the link to hand over.`,
  linkTitle: (name: string) => `${name} is invited`,
  link: 'Invitation link',
  linkAdvice:
    'Your organisation has no SMTP server, so no mail was sent. Hand this link over yourself: whoever has it can accept the invitation. “Send the invitation again” shows it again.',
  sessionsEnd: (count: number) => {
    if (count === 0) return 'They have no open session.';
    return count === 1 ? 'One open session ends.' : `${count} open sessions end.`;
  },
  tokensEnd: (count: number, isMore: boolean) => {
    if (count === 0) return 'They have no token.';
    return count === 1 ? 'One token is refused:' : `${count}${isMore ? ' or more' : ''} tokens are refused:`;
  },
  appsEnd: (count: number, isMore: boolean) => {
    if (count === 0) return 'No connected app acts for them.';
    if (count === 1) return 'One connected app stops working:';
    return `${count}${isMore ? ' or more' : ''} connected apps stop working:`;
  },
  passkeysEnd: (count: number, isMore: boolean) => {
    if (count === 0) return 'They have no passkey.';
    if (count === 1) return 'One passkey is forgotten:';
    return `${count}${isMore ? ' or more' : ''} passkeys are forgotten:`;
  },
  servicesEnd: (count: number, isMore: boolean) => {
    if (count === 0) return 'They are connected to no service.';
    if (count === 1) return 'One service is disconnected:';
    return `${count}${isMore ? ' or more' : ''} services are disconnected:`;
  },
  subscriptionsEnd: (count: number, isMore: boolean) => {
    if (count === 0) return 'Their agents follow no events.';
    if (count === 1) return 'One kind of event is no longer sent:';
    return `${count}${isMore ? ' or more' : ''} kinds of events are no longer sent:`;
  },
  serviceAccountsStay: (count: number, isMore: boolean) =>
    count === 1
      ? 'One service account that they have set up keeps working:'
      : `${count}${isMore ? ' or more' : ''} service accounts that they have set up keep working:`,
  cancelInvitation: 'Cancel the invitation…',
  filter: 'Search by name or address',
  noMatch: 'No member matches',
  shown: { all: 'All', joined: 'Joined', invited: 'Invited', stalled: 'Stalled', admins: 'Administrators' },
  repeatSeveral: (count: number) =>
    count === 1 ? 'Send one invitation again?' : `Send ${count} invitations again?`,
  repeatSeveralHint: 'Each gets the same link again; it ends when it would have.',
  repeatedSeveral: (count: number) =>
    count === 1 ? 'One invitation is sent again.' : `${count} invitations are sent again.`,
  cancelSeveral: (count: number) => (count === 1 ? 'Cancel one invitation?' : `Cancel ${count} invitations?`),
  cancelSubmit: 'Cancel the invitations',
  cancelledSeveral: (count: number) =>
    count === 1 ? 'One invitation is cancelled.' : `${count} invitations are cancelled.`,
  emptyTitle: 'There are no members',
  roleTitle: (name: string, role: string) => `Make ${name} ${role.toLowerCase()}?`,
  roleSubmit: 'Change the role',
  roleChanged: (name: string, role: string) => `${name} is now ${role.toLowerCase()}.`,
  removeTitle: (name: string, email: string) => `Remove ${name} (${email})?`,
  removeWarning:
    'What is theirs ends at once; crawl schedules and the audit log stay. This cannot be undone.',
  cancelTitle: (name: string, email: string) => `Cancel the invitation of ${name} (${email})?`,
  cancelOneSubmit: 'Cancel the invitation',
  cancelLeave: 'Keep it',
  cancelWarning: 'The link in the invitation stops working. You can invite the same address again.',
  removeSubmit: 'Remove',
  removed: (name: string) => `${name} is removed.`,
});
