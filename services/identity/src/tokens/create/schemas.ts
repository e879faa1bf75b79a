import { Type } from 'typebox';
import { AllowList } from '../../credentials/allow-lists/ranges.js';
import { type ExpiryDays, expiryChoices } from './grant.js';

export const Id = Type.String({ format: 'uuid' });
export const Instant = Type.String({ format: 'date-time' });
export const NullableInstant = Type.Union([Instant, Type.Null()]);

export const TokenName = Type.String({
  minLength: 1,
  maxLength: 100,
  format: 'display-name',
  description: 'With a visible character, without control and bidirectional ones.',
});
export const TokenDescription = Type.String({
  maxLength: 500,
  format: 'display-name',
  description: 'What the token is for.',
});
export const RequestedScopes = Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 50 });

export const CreateTokenBody = Type.Object(
  {
    name: TokenName,
    description: Type.Optional(TokenDescription),
    allowList: Type.Optional(AllowList),
    scopes: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        minItems: 1,
        maxItems: 50,
        description: 'Default: MCP_SCOPES.',
      }),
    ),
    expiryDays: Type.Optional(
      Type.Unsafe<ExpiryDays>({ enum: [...expiryChoices], description: 'Days, or `never`. Default: 30.' }),
    ),
  },
  { additionalProperties: false },
);
export type CreateTokenBody = Type.Static<typeof CreateTokenBody>;

export const Token = Type.Object(
  {
    id: Id,
    name: Type.String(),
    scopes: Type.Array(Type.String()),
    createdAt: Instant,
    expiresAt: NullableInstant,
    lastUsedAt: NullableInstant,
    usedScopes: Type.Array(Type.String(), {
      description: 'Those of its scopes that requests needed in the last 30 days.',
    }),
    parentId: Type.Union([Id, Type.Null()], {
      description:
        'The token that this one is revoked with: the one that made it, or the next above that is left. Null: none.',
    }),
  },
  { title: 'PersonalAccessToken' },
);
export type Token = Type.Static<typeof Token>;

export const CreatedToken = Type.Object(
  {
    message: Type.String(),
    token: Type.Object({
      ...Token.properties,
      accessToken: Type.String({ description: 'Shown this once.' }),
    }),
  },
  { title: 'CreatedPersonalAccessToken' },
);

export const AdminToken = Type.Object(
  {
    ...Token.properties,
    userId: Id,
    ownerEmail: Type.String(),
    ownerFullName: Type.String(),
    ownerDeleted: Type.Boolean(),
    isServiceAccount: Type.Optional(
      Type.Boolean({
        description:
          'True when a service account owns it: `userId` is that of the account, and there is no e-mail.',
      }),
    ),
  },
  { title: 'OwnedPersonalAccessToken' },
);
export type AdminToken = Type.Static<typeof AdminToken>;

export const GrantableScopes = Type.Object(
  {
    scopes: Type.Array(
      Type.Object({
        category: Type.String(),
        scopes: Type.Array(
          Type.Object({
            name: Type.String(),
            description: Type.String(),
            default: Type.Boolean(),
            adminOnly: Type.Boolean(),
          }),
        ),
      }),
    ),
  },
  { title: 'GrantableScopes' },
);
export type GrantableScopes = Type.Static<typeof GrantableScopes>;

export const TokenPath = Type.Object({ tokenId: Id });

export const RevokeReason = Type.String({ maxLength: 500 });
export const RevokeOptions = Type.Object(
  {
    reason: Type.Optional(RevokeReason),
    keepDescendants: Type.Optional(
      Type.Boolean({
        description:
          'Revoke this token alone, which requires a session. Otherwise the tokens that it created are revoked with it, and theirs.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type RevokeOptions = Type.Static<typeof RevokeOptions>;
/** The body is optional. */
export const RevokeBody = Type.Union([RevokeOptions, Type.Null()]);

export const Revoked = Type.Object({
  message: Type.String(),
  revokedCount: Type.Integer({ description: 'How many tokens were revoked: this one, and those it made.' }),
});

/** @param revokedCount - includes the token itself. */
export const toRevoked = (revokedCount: number): Type.Static<typeof Revoked> => ({
  message: revokedCount === 1 ? 'Token revoked' : 'Token revoked, with the tokens that it made',
  revokedCount,
});
