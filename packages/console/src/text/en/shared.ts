import { createTexts } from '../isolate.ts';

/** The texts that every screen may need: they are part of the first load. */
export const text = createTexts({
  product: 'Workspace platform',
  cancel: 'Cancel',
  close: 'Close',
  done: 'Done',
  save: 'Save',
  loading: 'Loading…',
  showMore: 'Show more',
  selectAll: 'Select all',
  tryAgain: 'Try again',
  clearFilter: (filter: string) => `${filter}: clear the filter`,
  noMatchAdvice: 'Change the filter, or clear it.',
  never: 'Never',
  none: 'None',
  all: 'All',
  yes: 'Yes',
  no: 'No',
  search: 'Search',

  crash: 'This page could not be shown',
  skipToContent: 'Skip to the content',
  signOut: 'Sign out',
  signedInAs: 'Signed in as',
  actions: 'Actions',
  actionsFor: (name: string) => `Actions for ${name}`,
  copyThing: (thing: string) => `Copy: ${thing}`,
  copyStates: { idle: 'Copy', copied: 'Copied', failed: 'Press Ctrl+C' },
  roles: { admin: 'Administrator', member: 'Member' },
  notFound: {
    title: 'Not found',
    advice:
      'The address may be wrong, or what was there has been removed. The navigation leads to every screen.',
  },
  adminsOnly: {
    title: 'For administrators',
    advice: 'Your role does not include this. An administrator of your organisation can change it.',
  },
  session: {
    ended: 'Your session has ended. Nothing on this page is lost: sign in in another tab, then go on here.',
    signIn: 'Sign in (new tab)',
    goOn: 'Go on',
  },
  problems: {
    unexpected: 'Something unexpected happened. Reload the page; what you had saved is saved.',
    unreachable:
      'The platform can’t be reached, so it is unknown whether the last change was made. Check the connection, then reload before you try again.',
    unread: 'The platform can’t be reached. Nothing was changed: check the connection, then try again.',
    offline:
      'You are offline. Nothing was sent, and nothing is sent by itself later: try again once you are online.',
    offlineRead: 'You are offline. This is loaded once you are online again.',
    signedOut: 'Your session has ended and nothing was changed. Sign in in another tab, then try again here.',
    unconfirmed: 'Nothing was changed, because you did not confirm that it is you.',
    nothingDone: (message: string) => `${message}. Nothing was done: you can try again.`,
    unknownOutcome:
      'The platform did not answer in time. The change may have been made: reload before you try again.',
    unavailable: 'The service is not available at the moment. Try again in a few seconds.',
    failed: 'The platform failed to answer. The change may have been made: reload before you try again.',
    tooMany: 'Too many requests in a short time. Wait a minute, then try again.',
  },
  /** What the platform's validation says, in words that continue “must …”. */
  faults: {
    email: 'must be an e-mail address, such as ada@example.com',
    url: 'must be an address, such as https://example.com',
    pattern: 'has characters that are not allowed here',
    required: 'must not be empty',
    mustNot: 'must not',
  },
  form: {
    checkFields: 'Nothing was changed yet: check the fields that are marked.',
    leaveTitle: 'Discard what you typed?',
    leaveAdvice: 'It has not been saved.',
    leave: 'Discard',
    stay: 'Keep editing',
  },
  offline: 'You are offline. What you see may be out of date; nothing you do is sent.',
  navigation: {
    label: 'Main navigation',
    open: 'Open the navigation',
    account: 'Account',
    overview: 'Overview',
    crawling: 'Crawling',
    mail: 'Mail',
    organisation: 'Organisation',
  },
  /** The names of the screens in the navigation, which are their titles too. */
  screens: {
    tokens: 'My tokens',
    crawls: 'Crawls',
    queue: 'Queue',
    events: 'Events',
    mails: 'Mails',
    templates: 'Templates',
    smtp: 'SMTP server',
    members: 'Members',
    allTokens: 'All tokens',
    audit: 'Audit log',
    start: 'Getting started',
    account: 'My account',
    apps: 'Connected apps',
    allApps: 'Connected apps',
    applications: 'Applications',
    serviceAccounts: 'Service accounts',
    tokenPolicy: 'Token policy',
    signIn: 'Sign-in',
    mcpServers: 'MCP servers',
  },
});

/** The language of dates and numbers, the same as that of the texts. */
export const LOCALE = 'en';
