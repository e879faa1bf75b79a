import { Type } from 'typebox';
import { type ExpiryDays, expiryChoices } from './grant.js';

const Id = Type.String({ format: 'uuid' });
const Instant = Type.String({ format: 'date-time' });
const NullableInstant = Type.Union([Instant, Type.Null()]);

export const CreateTokenBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
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
/** The body may be left out. */
export const RevokeBody = Type.Union([
  Type.Object({ reason: Type.Optional(RevokeReason) }, { additionalProperties: false }),
  Type.Null(),
]);

export const Message = Type.Object({ message: Type.String() });
