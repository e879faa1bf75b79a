import { Type } from 'typebox';

/*
 * The answers of a passkey in the JSON of browsers (WebAuthn §5.1, `toJSON`). Members that nothing here reads are let through,
 * because browsers add new ones. All are bounded, since the answers come from anybody.
 */

const Base64Url = (maxLength: number) => Type.String({ pattern: '^[A-Za-z0-9_-]+$', maxLength });
/** 1,023 bytes at most (WebAuthn §4). */
const credentialId = { id: Base64Url(1_364), rawId: Base64Url(1_364), type: Type.Literal('public-key') };
const ClientData = Base64Url(8_192);

export const PasskeyRegistration = Type.Object(
  {
    ...credentialId,
    response: Type.Object({
      clientDataJSON: ClientData,
      attestationObject: Base64Url(32_768),
      transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 16 })),
    }),
  },
  { title: 'PasskeyRegistration', description: 'What `navigator.credentials.create` gives, as JSON.' },
);
export type PasskeyRegistration = Type.Static<typeof PasskeyRegistration>;

export const PasskeyAssertion = Type.Object(
  {
    ...credentialId,
    response: Type.Object({
      clientDataJSON: ClientData,
      authenticatorData: Base64Url(8_192),
      signature: Base64Url(8_192),
      userHandle: Type.Optional(Type.Union([Type.String({ maxLength: 128 }), Type.Null()])),
    }),
  },
  { title: 'PasskeyAssertion', description: 'What `navigator.credentials.get` gives, as JSON.' },
);
export type PasskeyAssertion = Type.Static<typeof PasskeyAssertion>;

const anything = { additionalProperties: true };

/** The library builds them, as WebAuthn §5.1 defines them. */
export const CreationOptions = Type.Object(
  { challenge: Type.String() },
  {
    ...anything,
    title: 'PasskeyCreationOptions',
    description: 'For `PublicKeyCredential.parseCreationOptionsFromJSON`.',
  },
);
export const RequestOptions = Type.Object(
  { challenge: Type.String() },
  {
    ...anything,
    title: 'PasskeyRequestOptions',
    description: 'For `PublicKeyCredential.parseRequestOptionsFromJSON`.',
  },
);
