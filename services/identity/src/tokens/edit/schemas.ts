import { Type } from 'typebox';
import { AllowList } from '../../credentials/allow-lists/ranges.js';
import {
  Id,
  Instant,
  NullableInstant,
  RequestedScopes,
  Token,
  TokenDescription,
  TokenName,
} from '../create/schemas.js';
import { tokenStates } from './state.js';

const NullableText = Type.Union([Type.String(), Type.Null()]);

export const TokenDetails = Type.Object(
  {
    ...Token.properties,
    description: NullableText,
    allowList: AllowList,
    lastUse: Type.Union([
      Type.Object({ at: Instant, address: NullableText, userAgent: NullableText }),
      Type.Null(),
    ]),
    noticesMuted: Type.Boolean({ description: 'Whether nobody is told that the token expires.' }),
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

export const TokenAnswer = Type.Object({ token: TokenDetails });

export const EditedToken = Type.Object({
  ...TokenAnswer.properties,
  revokedCount: Type.Optional(
    Type.Integer({
      description:
        'How many tokens were revoked with the edit: those it created that had none of the remaining scopes, and theirs.',
    }),
  ),
});
export type EditedToken = Type.Static<typeof EditedToken>;

export const EditTokenBody = Type.Object(
  {
    name: Type.Optional(TokenName),
    description: Type.Optional(Type.Union([TokenDescription, Type.Null()])),
    allowList: Type.Optional(
      Type.Unsafe<string[]>({ ...AllowList, description: 'Within the current list, if there is one.' }),
    ),
    scopes: Type.Optional(
      Type.Unsafe<string[]>({
        ...RequestedScopes,
        description:
          'Some of the current scopes, never others. What is removed here is removed from the tokens that it created.',
      }),
    ),
    noticesMuted: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type EditTokenBody = Type.Static<typeof EditTokenBody>;
