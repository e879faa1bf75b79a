import { createTexts } from '../isolate.ts';

/** The texts of the hooks at which a source asks for a run. */
export const hooks = createTexts({
  title: 'Hooks',
  intro:
    'Addresses at which the source asks for a run when something has changed. Requests within half a minute, or during a run, are one run.',
  create: 'Add a hook…',
  createTitle: 'Add a hook',
  createFirst: 'Add the first hook',
  submit: 'Add',
  emptyTitle: 'There are no hooks',
  emptyAdvice:
    'With one, a push to a repository is found a minute later, rather than at the next time of the schedule.',
  kind: 'Source',
  kinds: {
    github: 'GitHub',
    gitlab: 'GitLab',
    standard_webhooks: 'A sender of Standard Webhooks',
    bearer: 'A script',
  },
  kindHints: {
    github:
      'Under Settings → Webhooks: the address is the payload URL. Choose few events, such as pushes alone.',
    gitlab: 'Under Settings → Webhooks: the secret is the secret token.',
    standard_webhooks: 'It signs its requests as Standard Webhooks says.',
    bearer: 'It sends the secret as a bearer token.',
  },
  description: 'Description',
  ownSecret: 'The source has made a secret',
  ownSecretHint: 'Without one, the platform makes it.',
  secretFault: 'It has 16 to 256 letters, digits and signs, without spaces.',
  columns: { hook: 'Hook', rung: 'Last request', rotated: 'Secret since' },
  never: 'None yet',
  shownTitle: 'Address and secret of the hook',
  shownWarning: 'Copy the secret now: it is not shown again.',
  address: 'Address',
  secret: 'Secret',
  copyAddress: 'Show the address…',
  addressTitle: (name: string) => `Address of ${name}`,
  rotate: 'Replace the secret…',
  rotateTitle: (name: string) => `Replace the secret of ${name}?`,
  rotateHint: 'For a day, the old secret is accepted too, so that you can change the source meanwhile.',
  rotateSubmit: 'Replace the secret',
  remove: 'Remove…',
  removeTitle: (name: string) => `Remove ${name}?`,
  removeHint: 'Its address is refused at once. The schedule stays as it is.',
  removeSubmit: 'Remove the hook',
  removed: (name: string) => `${name} is removed.`,
});
