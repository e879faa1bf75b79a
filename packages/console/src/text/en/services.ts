import { createTexts } from '../isolate.ts';

/** The texts of connected services: servers that a person's agents use as that person. */
export const services = createTexts({
  one: 'Connected service',
  intro: 'Where your agents work with an account of your own, and see what you see there.',
  columns: { name: 'Service', state: 'State', lastUsed: 'Last used' },
  usedBefore: 'Used ',
  neverUsed: 'Never used',
  states: { none: 'Not connected', connected: 'Connected', refused: 'Refuses your account' },
  origin: 'Its address',
  since: 'Connected since',
  refusedSince: 'Refused since',
  hint: 'Where to get your key',
  link: 'Open the page',
  signIn: 'Sign in there',
  signInAgain: 'Sign in there again',
  outcomes: {
    connected: 'You are signed in.',
    refused: 'You were not signed in: the service gave no permission.',
    failed: 'You were not signed in: the service’s answer can’t be used. Try again.',
    expired: 'You were not signed in: it took too long, or another browser began it. Try again.',
  },
  connect: 'Connect…',
  replace: 'Replace the key…',
  connectTitle: (name: string) => `Connect ${name}`,
  connectWarning: (origin: string) =>
    `Your agents use the key in your name at ${origin}. It is stored sealed, is sent nowhere else, and nobody sees it again.`,
  key: 'Your key',
  connectSubmit: 'Connect',
  connected: (name: string) => `${name} is connected.`,
  test: 'Test',
  works: 'It works',
  worksWith: (tools: number) =>
    tools === 1 ? 'It knows you, and offers one tool.' : `It knows you, and offers ${tools} tools.`,
  fails: 'It doesn’t work',
  end: 'Disconnect…',
  endTitle: (name: string) => `Disconnect ${name}?`,
  endWarnings: {
    personal:
      'Your key is deleted here at once, and your agents can’t use the service. The key stays valid there.',
    oauth:
      'Your sign-in ends here at once, and there as soon as the service can do that. Your agents can’t use it.',
  },
  endSubmit: 'Disconnect',
  ended: (name: string) => `${name} is disconnected.`,
  endAll: 'Disconnect all…',
  endAllTitle: 'Disconnect all services?',
  endAllWarning:
    'Your keys and sign-ins are deleted here at once, and your agents can’t use these services. Sign-ins end there, too; keys stay valid.',
  endAllSubmit: 'Disconnect all',
  allEnded: (count: number) =>
    count === 1 ? 'One service is disconnected.' : `${count} services are disconnected.`,
  emptyTitle: 'No service asks for an account of your own',
  emptyAdvice: 'When an administrator adds one, you connect to it here.',
});
