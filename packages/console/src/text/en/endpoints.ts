import { createTexts } from '../isolate.ts';

/** The texts of the endpoints that crawl. */
export const endpoints = createTexts({
  intro: 'Programs that crawl when the platform posts them an order. A schedule chooses one of them.',
  create: 'Register an endpoint',
  createFirst: 'Register the first endpoint',
  submit: 'Register',
  url: 'Address',
  urlHint: 'Orders are posted there, signed with a secret that you see once.',
  description: 'Description',
  columns: { endpoint: 'Endpoint', connectors: 'Crawls', rotated: 'Secret since' },
  unused: 'No schedule uses it',
  emptyTitle: 'There are no endpoints',
  emptyAdvice:
    'Register a program that can be reached from the platform. A program that cannot be reached claims its runs instead.',
  test: 'Test…',
  testTitle: (name: string) => `Test ${name}`,
  testHint: 'Sends it a signed GET, which asks for no crawl.',
  testSubmit: 'Test',
  rotate: 'Replace the secret…',
  rotateTitle: (name: string) => `Replace the secret of ${name}?`,
  rotateHint:
    'For a day, requests have the signature of the old secret too, so that you can change the endpoint meanwhile.',
  rotateSubmit: 'Replace the secret',
  shownTitle: 'Secret of the endpoint',
  shownWarning: 'Copy the secret now: it is not shown again.',
  secret: 'Secret',
  remove: 'Remove…',
  removeTitle: (name: string) => `Remove ${name}?`,
  removeHint: 'It gets no orders any more. An endpoint that a schedule uses cannot be removed.',
  removeSubmit: 'Remove the endpoint',
  removed: (name: string) => `${name} is removed.`,
  works: 'Works',
  fails: 'Fails',
});
