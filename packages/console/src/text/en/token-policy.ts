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
    limit: 'Limit the lifetime of new tokens',
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
    existing: 'What happens to them?',
    choices: {
      keep: {
        label: 'Keep them',
        hint: 'They work until they expire, from allowed addresses. The policy holds for new tokens. For unused ones, the days start anew.',
      },
      revoke: {
        label: 'Revoke them',
        hint: 'They are refused at once, and so are tokens that they created. Owners of tokens that are only unused are mailed now; a week later, those that are still unused are revoked.',
      },
    },
    revokes: (count: number) =>
      count === 1 ? 'One token is revoked when you save.' : `${count} tokens are revoked when you save.`,
    addresses: 'The allowed addresses hold for all tokens, these and others, as soon as you save.',
  },
  breaches: {
    lifetime: 'lives too long',
    never: 'never ends',
    scope: 'has a denied permission',
    address: 'is used, or allowed only, from addresses that are not allowed',
    unused: 'has not been used for that long',
    family: 'is revoked with a token that created or replaced it',
  },
  saved: (revoked: number, warned: number) =>
    [
      revoked === 0
        ? 'The policy is saved.'
        : `The policy is saved, and ${revoked === 1 ? 'one token is' : `${revoked} tokens are`} revoked.`,
      ...(warned === 0
        ? []
        : [
            `${warned === 1 ? 'One unused token is' : `${warned} unused tokens are`} revoked in a week, unless used.`,
          ]),
    ].join(' '),
});
