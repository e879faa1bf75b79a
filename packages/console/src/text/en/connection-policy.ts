import { createTexts } from '../isolate.ts';

/** The texts of the policy which applications may connect. */
export const connectionPolicy = createTexts({
  title: 'Connected applications',
  edit: 'Change what may connect…',
  kinds: 'Applications that may connect',
  kindNames: {
    application: 'Registered by an administrator',
    document: 'Described by a document at their host',
    registered: 'Registered by themselves',
  },
  noKinds: 'None',
  hosts: 'Hosts of such documents',
  anyHost: 'All that the platform allows',
  additionalHosts: 'Further hosts',
  noHosts: 'None',
  by: 'Who may connect them',
  byNames: { members: 'Every member', administrators: 'Administrators only' },
  lifetime: 'Longest connection',
  days: (count: number) => (count === 1 ? 'one day' : `${count} days`),
  dialog: {
    title: 'Change which applications may connect',
    registrationOff: 'The operator has switched registration off, so there are none.',
    kindHints: {
      application: 'They are listed under Applications.',
      document: 'Such as desktop agents whose maker publishes who they are.',
      registered: 'Nobody has checked who they are.',
    },
    hostsHint: 'One per line, among the hosts that the platform allows. Empty: all of them.',
    additionalHostsHint:
      'One a line, such as agent.example.com. Anybody who can publish there can describe a client.',
    byHints: {
      members: 'Each for what the member may do.',
      administrators: 'Connections of other members end.',
    },
    days: 'A connection lasts at most … days',
    next: 'Check what it ends',
    back: 'Back',
    save: 'Save the policy',
    saveAndEnd: 'Save and end them',
    nothingEnds: 'Every connection is within this policy.',
    ends: (count: number) =>
      count === 1
        ? 'One connection is not within this policy, and ends at once.'
        : `${count} connections are not within this policy, and end at once.`,
    listed: (count: number) => `The newest ${count} of them are listed.`,
  },
  breaches: {
    client_kind: 'may no longer connect',
    host: 'its host is not allowed',
    member: 'not an administrator',
    lifetime: 'lasts too long',
  },
  saved: (ended: number) =>
    ended === 0
      ? 'The policy is saved.'
      : `The policy is saved, and ${ended === 1 ? 'one connection has' : `${ended} connections have`} ended.`,
});
