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
  one: 'Connected app',
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
  subscriptions: {
    title: 'Events that agents follow',
    intro: 'Your agents asked to be told of these. Only what they may see at that moment is sent to them.',
    allIntro:
      'Agents of your members asked to be told of these. Only what each may see at that moment is sent to it.',
    columns: { event: 'Event', host: 'Sent to', last: 'Last delivery' },
    events: {
      'documents.changed': 'Documents changed',
      'my_token.expiring': 'Own token expires soon',
      'my_token.revoked': 'Own token revoked',
      'my_app.expiring': 'Own app expires soon',
      'my_app.disconnected': 'Own app disconnected',
      'my_mail.failed': 'Own mail did not arrive',
    },
    instance: (instance: string) => `instance ${instance}`,
    minFailures: (count: number) => `after ${count} failures`,
    by: (credential: string) => `for ${credential}`,
    serviceAccount: 'Service account',
    never: 'None in the last three days',
    failing: 'Fails',
    stop: 'Stop…',
    stopTitle: (host: string, owner: string | undefined) =>
      owner === undefined ? `Stop sending events to ${host}?` : `Stop sending events of ${owner} to ${host}?`,
    stopWarning: (event: string) =>
      `“${event}” is not sent there any more. The agent keeps its access, and can ask for events again.`,
    stopSubmit: 'Stop',
    stopped: (event: string) => `“${event}” is not sent any more.`,
  },
});
