import { Type } from 'typebox';
import { AllowList } from '../allow-lists/ranges.js';
import { WARNING_DAYS } from '../token-revocation/unused.js';
import { breaches, MIN_UNUSED_DAYS } from './policy.js';

const Id = Type.String({ format: 'uuid' });

const policyFields = {
  allowList: AllowList,
  maxLifetimeDays: Type.Union([Type.Integer({ minimum: 1, maximum: 3_650 }), Type.Null()], {
    description: 'The longest lifetime of a new token. Null: any.',
  }),
  allowsNever: Type.Boolean({ description: 'Whether a new token may never expire.' }),
  deniedScopes: Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: 50,
    description: 'Scopes that no new token gets.',
  }),
  revokeFamilyOnReuse: Type.Boolean({
    description:
      'Whether a use of a rotated token after its end revokes its successor and what both created.',
  }),
  revokeUnusedDays: Type.Union([Type.Integer({ minimum: MIN_UNUSED_DAYS, maximum: 3_650 }), Type.Null()], {
    description: `After so many days without a use, a token is revoked; its owner is warned ${WARNING_DAYS} days before. Null: never.`,
  }),
};

const existingTokenChoices = ['keep', 'revoke'] as const;

export const TokenPolicyBody = Type.Object(
  {
    ...policyFields,
    // Clients of earlier releases don't know it, and must not switch it off.
    revokeUnusedDays: Type.Optional(policyFields.revokeUnusedDays),
    existingTokens: Type.Optional(
      Type.Enum([...existingTokenChoices], {
        description:
          'What happens to active tokens that the policy would not allow. Required when there are any. Unused tokens that are kept have all days without a use before them; those to be revoked are warned about first.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type TokenPolicyBody = Type.Static<typeof TokenPolicyBody>;

const AffectedOwner = Type.Object({
  userId: Id,
  ownerEmail: Type.String({ description: 'Empty for a service account.' }),
  ownerFullName: Type.Optional(Type.String()),
  tokens: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      breaches: Type.Array(
        Type.Enum([...breaches, 'family'], {
          description:
            '`address`: last used from, or allowed only from, addresses that the policy refuses. `family`: allowed, but revoked with a token that created or replaced it.',
        }),
      ),
    }),
  ),
});
export type AffectedOwner = Type.Static<typeof AffectedOwner>;

export const TokenPolicyAnswer = Type.Object({ policy: Type.Object(policyFields, { title: 'TokenPolicy' }) });

export const SavedTokenPolicy = Type.Object({
  ...TokenPolicyAnswer.properties,
  affectedCount: Type.Integer({ description: 'Active tokens that the policy would not allow.' }),
  revokedCount: Type.Integer({
    description: 'Tokens that were, or would be, revoked, with those they created.',
  }),
  warnedCount: Type.Integer({
    description: `Unused tokens whose owners are, or would be, warned. They are revoked ${WARNING_DAYS} days later, unless they are used.`,
  }),
  affected: Type.Array(AffectedOwner, {
    description:
      'At most 1,000 of these tokens, by owner, newest first; with `existingTokens: revoke` also those that are revoked with them.',
  }),
});
export type SavedTokenPolicy = Type.Static<typeof SavedTokenPolicy>;
