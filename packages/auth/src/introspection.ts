import { Type } from 'typebox';
import { Bounds } from './bounds.js';
import { roles } from './scopes.js';

/*
 * The introspection that identity offers to other services. The results are those of RFC 7662; unlike there, a request takes
 * many tokens and returns one result for each, in their order.
 */

/** The scope that a service credential needs for introspection. */
export const INTROSPECTION_SCOPE = 'token:introspect';

export const INTROSPECTION_PATH = '/api/v1/oauth2/introspect';
export const TOKEN_PATH = '/api/v1/oauth2/token';
export const JWKS_PATH = '/.well-known/jwks.json';

/** The largest number of tokens in one batch. */
export const MAX_INTROSPECTION_BATCH = 200;

/** A longer address is invalid and is omitted. */
export const MAX_ADDRESS_LENGTH = 64;
/** Longer user agents are truncated. */
export const MAX_USER_AGENT_LENGTH = 256;

/** The client that presented a token, as the asking service knows it. */
export const IntrospectionClient = Type.Object(
  {
    address: Type.Optional(Type.String({ maxLength: MAX_ADDRESS_LENGTH })),
    userAgent: Type.Optional(Type.String({ maxLength: MAX_USER_AGENT_LENGTH })),
  },
  { additionalProperties: false },
);
export type IntrospectionClient = Type.Static<typeof IntrospectionClient>;

export const IntrospectionBatchRequest = Type.Object(
  {
    tokens: Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
      minItems: 1,
      maxItems: MAX_INTROSPECTION_BATCH,
    }),
    clients: Type.Optional(
      Type.Array(IntrospectionClient, {
        maxItems: MAX_INTROSPECTION_BATCH,
        description:
          'Who presented each token, in their order. A token with an allow list is inactive without.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** RFC 7662 §2.2, with `org`, `kind`, `service_account`, `role` and `name` beside the registered members. */
export const Introspection = Type.Object({
  active: Type.Boolean(),
  iss: Type.Optional(Type.String()),
  sub: Type.Optional(Type.String()),
  jti: Type.Optional(Type.String()),
  client_id: Type.Optional(Type.String({ description: 'Of a service credential or an OAuth access token.' })),
  scope: Type.Optional(Type.String()),
  iat: Type.Optional(Type.Integer()),
  exp: Type.Optional(Type.Integer()),
  token_type: Type.Optional(Type.String()),
  username: Type.Optional(Type.String({ description: "The owner's e-mail." })),
  org: Type.Optional(Type.String()),
  kind: Type.Optional(Type.String()),
  service_account: Type.Optional(
    Type.Boolean({ description: 'Whether the owner is a service account rather than a member.' }),
  ),
  role: Type.Optional(Type.Enum([...roles])),
  name: Type.Optional(Type.String({ description: "The owner's full name." })),
  authorization_details: Type.Optional(
    Type.Array(Type.Object({ type: Type.Literal('bounds'), ...Bounds.properties }), {
      description:
        'What the credential is limited to beside its scopes, in the form of RFC 9396: one entry, with the lists that limit it. Absent without bounds.',
    }),
  ),
});
export type Introspection = Type.Static<typeof Introspection>;

export const IntrospectionBatch = Type.Object({ results: Type.Array(Introspection) });
export type IntrospectionBatch = Type.Static<typeof IntrospectionBatch>;
