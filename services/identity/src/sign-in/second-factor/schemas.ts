import { Type } from 'typebox';
import { PasskeyAssertion, PasskeyRegistration } from '../passkeys/schemas.js';
import { LoginResponse } from '../sessions/schemas.js';

const Challenge = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'The `challenge` of the 401 that asked for a second factor.',
});
const EnrolmentText = Type.String({ minLength: 1, maxLength: 1_024, description: 'From the set-up.' });
const TotpCode = Type.String({
  minLength: 6,
  maxLength: 16,
  description: 'Six digits from the authenticator app.',
});
/** The length of a code of the authenticator app or a recovery code. */
const codeLength = { minLength: 6, maxLength: 64 };

const strict = { additionalProperties: false };
/** One second factor at a time. */
const oneFactor = {
  ...strict,
  examples: [{ code: '493817' }],
  'x-documented': { not: { required: ['code', 'passkey'] } },
};

export const SecondFactorBody = Type.Object(
  {
    challenge: Challenge,
    code: Type.Optional(
      Type.String({
        ...codeLength,
        description: 'Six digits from the authenticator app, or a recovery code.',
      }),
    ),
    passkey: Type.Optional(PasskeyAssertion),
  },
  {
    ...strict,
    examples: [{ challenge: 'AAECAwQFBgcICQoLDA0ODw', code: '493817' }],
    'x-documented': { oneOf: [{ required: ['code'] }, { required: ['passkey'] }] },
  },
);
export const ChallengeBody = Type.Object({ challenge: Challenge }, strict);
export const ConfirmAtSignInBody = Type.Object(
  { challenge: Challenge, enrolment: EnrolmentText, code: TotpCode },
  strict,
);
export const ProofBody = Type.Object(
  {
    code: Type.Optional(
      Type.String({
        ...codeLength,
        description:
          'Required of an account with a second factor, unless `passkey` is sent: six digits from the authenticator app, or a recovery code.',
      }),
    ),
    passkey: Type.Optional(PasskeyAssertion),
  },
  oneFactor,
);
const PasskeyName = Type.String({ minLength: 1, maxLength: 60, format: 'display-name' });
const newPasskey = {
  name: Type.Optional(PasskeyName),
  registration: PasskeyRegistration,
};
export const NewPasskeyBody = Type.Object(newPasskey, strict);
export const NewPasskeyAtSignInBody = Type.Object({ challenge: Challenge, ...newPasskey }, strict);
export const RenameBody = Type.Object({ name: PasskeyName }, strict);
export const ConfirmBody = Type.Object({ enrolment: EnrolmentText, code: TotpCode }, strict);

export const EnrolmentResponse = Type.Object(
  {
    secret: Type.String({ description: 'In base32, to type it where there is no camera.' }),
    uri: Type.String({ description: 'The `otpauth:` URI, to show as a QR code.' }),
    enrolment: Type.String({ description: 'To be sent with the first code, within ten minutes.' }),
  },
  { title: 'TotpEnrolment' },
);

const RecoveryCodes = Type.Array(Type.String(), {
  description: 'Each signs in once in place of the app. They are shown this once.',
});

export const EnrolledSession = Type.Object(
  { ...LoginResponse.properties, recoveryCodes: RecoveryCodes },
  { title: 'EnrolledSession' },
);

const Passkey = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    createdAt: Type.String({ format: 'date-time' }),
    lastUsedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  },
  { title: 'Passkey' },
);

export const SecondFactorState = Type.Object(
  {
    totp: Type.Union([Type.Object({ createdAt: Type.String({ format: 'date-time' }) }), Type.Null()], {
      description: 'The authenticator app; null when there is none.',
    }),
    passkeys: Type.Array(Passkey, { description: 'Oldest first.' }),
    canAddPasskey: Type.Boolean({
      description:
        'False when the account has as many as it can, or the platform is reached without HTTPS or a host name.',
    }),
    recoveryCodesLeft: Type.Integer(),
    isRequired: Type.Boolean({ description: 'Whether the organisation requires a second factor.' }),
  },
  { title: 'SecondFactor' },
);
export type SecondFactorState = Type.Static<typeof SecondFactorState>;

export const SecondFactorResponse = Type.Object({ secondFactor: SecondFactorState });
export const Confirmed = Type.Object({
  message: Type.String(),
  recoveryCodes: Type.Union([RecoveryCodes, Type.Null()], {
    description: 'Null when the account keeps the codes that it has.',
  }),
});
export const RenewedCodes = Type.Object({ recoveryCodes: RecoveryCodes });
