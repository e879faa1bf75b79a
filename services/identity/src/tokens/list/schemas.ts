import { Type } from 'typebox';
import { AdminToken, Id, Instant, Token } from '../create/schemas.js';
import { TokenDetails } from '../edit/schemas.js';
import { tokenStates } from '../edit/state.js';

/** Any of these makes a list a search, which is paged by cursor. */
const searchFields = {
  state: Type.Optional(Type.Enum([...tokenStates], { description: 'Default: active.' })),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Part of the name or the description, in any case.',
    }),
  ),
  scope: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  unusedSince: Type.Optional(
    Type.Unsafe<string>({ ...Instant, description: 'Created, and last used if ever, before this time.' }),
  ),
  expiresBefore: Type.Optional(Type.Unsafe<string>(Instant)),
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

const { allowList, description, lastUse, noticesMuted, replacedBy, revokedAt, revokedReason, state } =
  TokenDetails.properties;
/** The fields that a search shows beside those of the plain lists. */
const found = Type.Partial(
  Type.Object({ allowList, description, lastUse, noticesMuted, replacedBy, revokedAt, revokedReason, state }),
).properties;

export const ListedToken = Type.Object(
  { ...Token.properties, ...found },
  { title: 'ListedPersonalAccessToken' },
);
export const ListedOrgToken = Type.Object(
  { ...AdminToken.properties, ...found },
  { title: 'ListedOwnedPersonalAccessToken' },
);
export const NextCursor = Type.Optional(
  Type.Union([Id, Type.Null()], {
    description: 'Of a search: pass it as `cursor`. Null: there is no more. A page can be short, or empty.',
  }),
);
