import { createTexts } from '../isolate.ts';

/** The texts of connected apps: clients that act for a person by OAuth. */
export const apps = createTexts({
  intro: 'Applications that act for you since you allowed it on the page that asked you.',
  allIntro: 'Applications that act for members of your organisation.',
  columns: {
    client: 'Application',
    owner: 'Acts for',
    may: 'May',
    lastUsed: 'Last used',
    until: 'Until',
  },
  kinds: {
    application: 'Registered by an administrator',
    registered: 'Registered itself: the name is not verified',
    document: 'Described by its own address',
  },
  from: (address: string) => `from ${address}`,
  neverUsed: 'Never used',
  end: 'End the connection…',
  endTitle: (client: string) => `End the connection of ${client}?`,
  endTitleOf: (client: string, owner: string) => `End the connection of ${client} with ${owner}?`,
  endWarning: 'All of its tokens are refused at once. It can ask again, and then has to be allowed again.',
  reason: 'Reason',
  reasonHint: 'Optional; kept in the audit log.',
  endSubmit: 'End the connection',
  ended: (client: string) => `The connection of ${client} has ended.`,
  register: 'Register an application',
  emptyTitle: 'No application acts for you',
  emptyAdvice:
    'An agent that signs in with your browser appears here, with what it may do and the way to end it.',
  allEmptyTitle: 'No application acts for anybody',
  allEmptyAdvice: 'Each that a member connects in the browser appears here, with what it may do.',
});
