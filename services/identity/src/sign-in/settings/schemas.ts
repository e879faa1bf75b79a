import { Type } from 'typebox';

const fields = {
  codesEnabled: Type.Boolean({ description: 'Whether members can sign in with mailed codes.' }),
  secondFactorRequired: Type.Boolean({
    description:
      'Whether members need a second factor to sign in. Members without one set it up at their next sign-in.',
  }),
};

export const SignInSettings = Type.Object(fields, { title: 'SignInSettings' });
export type SignInSettings = Type.Static<typeof SignInSettings>;

export const SaveSignInSettingsBody = Type.Object(
  {
    codesEnabled: fields.codesEnabled,
    secondFactorRequired: Type.Optional(fields.secondFactorRequired),
    endSessions: Type.Optional(
      Type.Boolean({
        description:
          'With `secondFactorRequired`: whether all sessions that were opened without a second factor end now, but for the caller’s. Otherwise they go on until they expire, after 24 hours at most.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type SaveSignInSettingsBody = Type.Static<typeof SaveSignInSettingsBody>;

export const SignInSettingsResponse = Type.Object({ signIn: SignInSettings });
export const SavedSignInSettings = Type.Object({
  message: Type.String(),
  signIn: SignInSettings,
  endedCount: Type.Integer({ description: 'How many sessions were ended.' }),
});
