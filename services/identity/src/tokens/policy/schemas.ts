import { Type } from 'typebox';
import { AllowList } from '../../credentials/allow-lists/ranges.js';
import { ScopeName } from '../schemas.js';
import { WARNING_DAYS } from '../unused.js';
import { breaches, MIN_UNUSED_DAYS } from './policy.js';

const Id = Type.String({ format: 'uuid' });

const policyFields = {
  allowList: AllowList,
  maxLifetimeDays: Type.Union([Type.Integer({ minimum: 1, maximum: 3_650 }), Type.Null()], {
    description: 'The longest lifetime of a token, from its creation. Null: any.',
  }),
  allowsNever: Type.Boolean({ description: 'Whether a token may never expire.' }),
  deniedScopes: Type.Array(ScopeName, {
    maxItems: 50,
    description: 'Scopes that no token has, whatever it was created with.',
  }),
  revokeFamilyOnReuse: Type.Boolean({
    description:
      'Whether a use of a rotated token after its end revokes its successor and what both created.',
  }),
  revokeUnusedDays: Type.Union([Type.Integer({ minimum: MIN_UNUSED_DAYS, maximum: 3_650 }), Type.Null()], {
    description: `After so many days without a use, a token is revoked; its owner is warned ${WARNING_DAYS} days before. Null: never.`,
  }),
};

export const TokenPolicyBody = Type.Object(policyFields, { additionalProperties: false });
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
        Type.Enum([...breaches], {
          description:
            '`lifetime`: ends earlier than it was created to. `never`: ends, though it was created to last. `scope`: loses scopes. `address`: last used from, or allowed only from, addresses that the policy refuses.',
        }),
      ),
    }),
  ),
});
export type AffectedOwner = Type.Static<typeof AffectedOwner>;

export const TokenPolicyAnswer = Type.Object({ policy: Type.Object(policyFields, { title: 'TokenPolicy' }) });

export const SavedTokenPolicy = Type.Object({
  ...TokenPolicyAnswer.properties,
  affectedCount: Type.Integer({ description: 'Active tokens that the policy limits.' }),
  affected: Type.Array(AffectedOwner, {
    description: 'At most 1,000 of these tokens, by owner, newest first.',
  }),
});
export type SavedTokenPolicy = Type.Static<typeof SavedTokenPolicy>;
