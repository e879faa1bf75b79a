import { createTexts } from '../isolate.ts';

/** The texts of the organisation's policy for tokens. */
export const tokenPolicy = createTexts({
  intro: 'What the personal access tokens of your organisation may have.',
  edit: 'Change the policy…',
  lifetime: 'Longest lifetime',
  lifetimeAny: 'Any',
  days: (count: number) => (count === 1 ? 'one day' : `${count} days`),
  never: 'Tokens without an end',
  neverAllowed: 'Allowed',
  neverDenied: 'Not allowed',
  allowList: 'Allowed addresses',
  anyAddress: 'Any',
  denied: 'Permissions that nobody gets',
  deniedNone: 'None',
  reuse: 'Use of a rotated token after its end',
  reuseRevokes: 'Revokes the token that replaced it, and what both created',
  reuseMails: 'Is mailed to the owner',
  unused: 'Unused tokens',
  unusedKept: 'Stay',
  unusedRevoked: (count: number) =>
    `Revoked after ${count} days without a use; the owner is mailed a week before`,
  dialog: {
    title: 'Change the token policy',
    limit: 'Limit the lifetime of tokens',
    maxDays: 'At most … days',
    allowNever: 'Allow tokens without an end',
    revokeFamily: 'Revoke the replacement when a rotated token is used after its end',
    revokeFamilyHint: 'Such a use can mean that the token was stolen.',
    revokeUnused: 'Revoke tokens that nobody uses',
    revokeUnusedHint: 'The owner is mailed a week before. Using the token keeps it.',
    unusedDays: 'After … days without a use',
    options: 'Rules',
    deniedTitle: 'Permissions that nobody gets',
    deniedNow: 'Denied now',
    allowListHint: 'CIDR ranges, one a line. They hold for every token at once. Empty: any address.',
    next: 'Check what it affects',
    back: 'Back',
    save: 'Save the policy',
    nothingAffected: 'Every active token is within this policy.',
    affected: (count: number) =>
      count === 1
        ? 'One active token is not within this policy.'
        : `${count} active tokens are not within this policy.`,
    listed: (count: number) => `The newest ${count} of them are listed.`,
    consequence:
      'From the moment you save, they have only what the policy allows, and tokens that it does not allow at all are refused. They get it back when the policy allows it again.',
    addresses: 'The allowed addresses hold for all tokens, these and others, as soon as you save.',
  },
  breaches: {
    lifetime: 'ends earlier',
    never: 'was made to last for ever',
    scope: 'loses a denied permission',
    address: 'is used, or allowed only, from addresses that are not allowed',
  },
  saved: 'The policy is saved, and holds for every token.',
});
