import { scopeCatalogue } from '@platform/auth';
import { Type } from 'typebox';
import { AllowList } from '../credentials/allow-lists/ranges.js';
import { NamedBounds } from '../credentials/bounds/bounds.js';
import { type ExpiryDays, expiryChoices } from './grant.js';

export const tokenStates = ['active', 'expired', 'revoked'] as const;
export type TokenState = (typeof tokenStates)[number];

export const Id = Type.String({ format: 'uuid' });
export const Instant = Type.String({ format: 'date-time' });
const NullableInstant = Type.Union([Instant, Type.Null()]);

const TokenName = Type.String({
  minLength: 1,
  maxLength: 100,
  format: 'display-name',
  description: 'With a visible character, without control and bidirectional ones.',
});
const TokenDescription = Type.String({
  maxLength: 500,
  format: 'display-name',
  'x-documented': { minLength: 1 },
  description: 'What the token is for.',
});
export const scopeNames = scopeCatalogue.flatMap(({ scopes }) => scopes.map(({ name }) => name));
/** An unknown name is refused together with the scopes that the caller can't grant, with the reason for each. */
export const toScopePattern = (names: readonly string[]): string => `^(${names.join('|')})$`;
export const ScopeName = Type.String({
  maxLength: 64,
  'x-documented': { pattern: toScopePattern(scopeNames) },
});
export const RequestedScopes = Type.Array(ScopeName, { minItems: 1, maxItems: 50 });

export const CreateTokenBody = Type.Object(
  {
    name: TokenName,
    description: Type.Optional(TokenDescription),
    allowList: Type.Optional(AllowList),
    bounds: Type.Optional(NamedBounds),
    scopes: Type.Optional(
      Type.Array(ScopeName, {
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
    parentId: Type.Union([Id, Type.Null()], {
      description:
        'The token that this one is revoked with: its creator, or the nearest remaining ancestor. Null: none.',
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
            forAdmins: Type.Boolean({
              description: 'Whether a member who holds it can do nothing with it.',
            }),
          }),
        ),
      }),
    ),
  },
  { title: 'GrantableScopes' },
);
export type GrantableScopes = Type.Static<typeof GrantableScopes>;

export const BoundChoices = Type.Object({ bounds: Type.Required(NamedBounds) }, { title: 'BoundChoices' });

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

const NullableText = Type.Union([Type.String(), Type.Null()]);

export const TokenDetails = Type.Object(
  {
    ...Token.properties,
    description: NullableText,
    allowList: AllowList,
    bounds: Type.Union([NamedBounds, Type.Null()]),
    lastUse: Type.Union([
      Type.Object({ at: Instant, address: NullableText, userAgent: NullableText }),
      Type.Null(),
    ]),
    noticesMuted: Type.Boolean({ description: 'Whether nobody is notified that the token expires.' }),
    state: Type.Enum([...tokenStates]),
    replacedBy: Type.Union([Id, Type.Null()], {
      description:
        'The token that replaced this one by rotation. An active token with one works until `expiresAt`.',
    }),
    revokedAt: NullableInstant,
    revokedReason: NullableText,
  },
  { title: 'PersonalAccessTokenDetails' },
);
export type TokenDetails = Type.Static<typeof TokenDetails>;

export const OwnedToken = Type.Object(
  {
    ...TokenDetails.properties,
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
export type OwnedToken = Type.Static<typeof OwnedToken>;

export const TokenAnswer = Type.Object({ token: TokenDetails });

export const EditTokenBody = Type.Object(
  {
    name: Type.Optional(TokenName),
    description: Type.Optional(Type.Union([TokenDescription, Type.Null()])),
    noticesMuted: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type EditTokenBody = Type.Static<typeof EditTokenBody>;

const MAX_GRACE_SECONDS = 604_800;
/** A client whose answer got lost still has a token that works while somebody looks into it. */
export const DEFAULT_GRACE_SECONDS = 60;

export const RotateOptions = Type.Object(
  {
    graceSeconds: Type.Integer({
      minimum: 0,
      maximum: MAX_GRACE_SECONDS,
      default: DEFAULT_GRACE_SECONDS,
      description: 'How long the replaced token still works; 0: it ends at once. Default: a minute.',
    }),
    expiryDays: Type.Optional(
      Type.Unsafe<ExpiryDays>({
        enum: [...expiryChoices],
        description: 'Days, or `never`. Default: as long as the replaced token was created for.',
      }),
    ),
    scopes: Type.Optional(
      Type.Unsafe<string[]>({
        ...RequestedScopes,
        description:
          'Some of its scopes, never others. With fewer, the tokens that it created are revoked. Default: all.',
      }),
    ),
    allowList: Type.Optional(
      Type.Unsafe<string[]>({
        ...AllowList,
        description:
          'Within its list, if it has one. With fewer addresses, the tokens that it created are revoked. Default: the same.',
      }),
    ),
  },
  { required: [], additionalProperties: false },
);
/** The options as they are sent. */
export interface RotateOptions {
  readonly graceSeconds?: number;
  readonly expiryDays?: ExpiryDays;
  readonly scopes?: readonly string[];
  readonly allowList?: readonly string[];
}
/** The body is optional. */
export const RotateBody = Type.Unsafe<RotateOptions | null>(Type.Union([RotateOptions, Type.Null()]));

export const RotatedToken = Type.Object(
  {
    ...CreatedToken.properties,
    replaced: Type.Object({
      id: Id,
      endsAt: Type.Unsafe<string>({ ...Instant, description: 'Until when the replaced token works.' }),
    }),
    revokedCount: Type.Integer({
      description:
        'How many tokens that the replaced one had created were revoked, because the new one is narrower.',
    }),
  },
  { title: 'RotatedPersonalAccessToken' },
);
export type RotatedToken = Omit<Type.Static<typeof RotatedToken>, 'message'>;

const tokenSorts = ['newest', 'oldest', 'name', 'expiry'] as const;
export type TokenSort = (typeof tokenSorts)[number];

/** Any of these makes a list a search, which is paged by cursor. */
const searchFields = {
  state: Type.Optional(Type.Enum([...tokenStates], { description: 'Default: active.' })),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Part of the name, the description, or the name or address of the owner, in any case.',
    }),
  ),
  scope: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  unusedSince: Type.Optional(
    Type.Unsafe<string>({ ...Instant, description: 'Created, and last used if ever, before this time.' }),
  ),
  expiresBefore: Type.Optional(Type.Unsafe<string>(Instant)),
  sort: Type.Optional(
    Type.Enum([...tokenSorts], {
      description: 'Default: newest. `name` and `expiry`, the next to expire first, are for active tokens.',
    }),
  ),
  cursor: Type.Optional(Type.Unsafe<string>({ ...Id, description: 'The `nextCursor` of the page before.' })),
};
const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 100 }));

export const OwnTokenQuery = Type.Object({ ...searchFields, limit }, { additionalProperties: false });
export type OwnTokenQuery = Type.Static<typeof OwnTokenQuery>;

export const OrgTokenQuery = Type.Object(
  {
    ...searchFields,
    owner: Type.Optional(
      Type.Unsafe<string>({ ...Id, description: 'The id of a member or a service account.' }),
    ),
    page: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'Not with the filters.' }),
    ),
    limit,
  },
  { additionalProperties: false },
);
export type OrgTokenQuery = Type.Static<typeof OrgTokenQuery>;

export const NextCursor = Type.Optional(
  Type.Union([Id, Type.Null()], {
    description: 'Of a search: pass it as `cursor`. Null: there is no more. A page can be short, or empty.',
  }),
);
