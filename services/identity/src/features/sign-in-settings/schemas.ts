import { Type } from 'typebox';

export const SignInSettings = Type.Object(
  { codesEnabled: Type.Boolean({ description: 'Whether members can sign in with mailed codes.' }) },
  { additionalProperties: false, title: 'SignInSettings' },
);
export type SignInSettings = Type.Static<typeof SignInSettings>;

export const SignInSettingsResponse = Type.Object({ signIn: SignInSettings });
export const SavedSignInSettings = Type.Object({ message: Type.String(), signIn: SignInSettings });
