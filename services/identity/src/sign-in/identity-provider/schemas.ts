import { HTTP_URL_PATTERN } from '@platform/service-kit';
import { Type } from 'typebox';

const DOMAIN = '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.])+[a-z]{2,63}$';
const VISIBLE = '^[\\x21-\\x7e]+$';
const ScopeName = Type.String({ minLength: 1, maxLength: 128, pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' });

const fields = {
  issuer: Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: 'The URL below which `/.well-known/openid-configuration` is found. https, without a query.',
    'x-documented': { pattern: HTTP_URL_PATTERN },
  }),
  clientId: Type.String({ minLength: 1, maxLength: 512, pattern: VISIBLE }),
  scopes: Type.Array(ScopeName, {
    minItems: 1,
    maxItems: 20,
    uniqueItems: true,
    examples: [['openid', 'email']],
    'x-documented': { contains: { const: 'openid' } },
  }),
  secondFactorValues: Type.Array(Type.String({ minLength: 1, maxLength: 256, pattern: VISIBLE }), {
    maxItems: 20,
    uniqueItems: true,
    description:
      'Values of `amr` or `acr` with which the provider says that it asked for a second factor, such as `mfa`. Empty: a second factor of the platform is asked for regardless.',
  }),
  justInTimeMembership: Type.Boolean({
    description: 'Whether people of the verified domains become members at their first sign-in.',
  }),
  required: Type.Boolean({
    description: 'Whether members of the verified domains can sign in with the provider only.',
  }),
  groupsClaim: Type.Union([Type.String({ minLength: 1, maxLength: 256, pattern: VISIBLE }), Type.Null()], {
    description:
      'The claim that has the names of the groups of a person, by default `groups`. At each sign-in they replace the groups that the member has from the provider. Null: they are not read.',
  }),
};

export const IdentityProvider = Type.Object(
  {
    ...fields,
    hasClientSecret: Type.Boolean(),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
  },
  { title: 'IdentityProvider' },
);
export type IdentityProvider = Type.Static<typeof IdentityProvider>;

export const IdentityDomain = Type.Object(
  {
    domain: Type.String(),
    verifiedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    record: Type.Object(
      { name: Type.String(), value: Type.String() },
      { description: 'The TXT record that proves the control of the domain.' },
    ),
  },
  { title: 'IdentityDomain' },
);
export type IdentityDomain = Type.Static<typeof IdentityDomain>;

export const IdentityProviderResponse = Type.Object({
  identityProvider: Type.Union([IdentityProvider, Type.Null()]),
  domains: Type.Array(IdentityDomain),
  redirectUri: Type.String({ description: 'The redirect URI to register at the provider.' }),
  groupsKept: Type.Union(
    [
      Type.Object({
        reason: Type.String({
          description:
            '`overage`: the provider has too many groups for its token, and links to them; `absent`: it stopped stating groups; `too_many_memberships` and `too_many_groups`: beyond the limits of the platform.',
        }),
        userId: Type.String({ format: 'uuid' }),
        at: Type.String({ format: 'date-time' }),
      }),
      Type.Null(),
    ],
    {
      description:
        'The last sign-in since the settings were saved at which the groups of a member were kept, since those that the provider stated could not be taken over.',
    },
  ),
});
export type IdentityProviderResponse = Type.Static<typeof IdentityProviderResponse>;

export const SaveIdentityProviderBody = Type.Object(
  {
    issuer: fields.issuer,
    clientId: fields.clientId,
    clientSecret: Type.Optional(
      Type.Union([Type.String({ minLength: 1, maxLength: 1_024, pattern: VISIBLE }), Type.Null()], {
        description:
          'Never returned. Left out: stays as it is. Null: the client has none, and uses PKCE alone.',
      }),
    ),
    scopes: Type.Optional(fields.scopes),
    secondFactorValues: Type.Optional(fields.secondFactorValues),
    justInTimeMembership: Type.Optional(fields.justInTimeMembership),
    required: Type.Optional(fields.required),
    groupsClaim: Type.Optional(fields.groupsClaim),
  },
  { additionalProperties: false },
);
export type SaveIdentityProviderBody = Type.Static<typeof SaveIdentityProviderBody>;

export const SavedIdentityProvider = Type.Object({
  message: Type.String(),
  identityProvider: IdentityProvider,
  endedCount: Type.Integer({ description: 'How many sessions of the earlier provider were ended.' }),
});

export const RemovedIdentityProvider = Type.Object({
  message: Type.String(),
  endedCount: Type.Integer({ description: 'How many sessions of the provider were ended.' }),
});

export const OwnConnection = Type.Object(
  {
    connection: Type.Union([
      Type.Object({ issuer: Type.String(), connectedAt: Type.String({ format: 'date-time' }) }),
      Type.Null(),
    ]),
    isRequired: Type.Boolean({ description: 'Whether the member can sign in with the provider only.' }),
  },
  { title: 'ProviderConnection' },
);
export type OwnConnection = Type.Static<typeof OwnConnection>;

export const ProviderTest = Type.Object(
  {
    isUsable: Type.Boolean(),
    fault: Type.Optional(Type.String({ description: 'Why the provider cannot be used.' })),
    status: Type.Optional(
      Type.Integer({ description: 'The HTTP status of the provider, if that is the fault.' }),
    ),
    authorizationEndpoint: Type.Optional(Type.String()),
  },
  { title: 'ProviderTest' },
);
export type ProviderTest = Type.Static<typeof ProviderTest>;

export const AddDomainBody = Type.Object(
  { domain: Type.String({ minLength: 1, maxLength: 253, 'x-documented': { pattern: DOMAIN } }) },
  { additionalProperties: false },
);
export const DomainPath = Type.Object({ domain: Type.String({ minLength: 1, maxLength: 253 }) });
export const DomainResponse = Type.Object({ domain: IdentityDomain });
