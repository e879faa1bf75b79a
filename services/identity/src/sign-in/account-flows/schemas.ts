import { Type } from 'typebox';
import { FullName, Password } from '../../members/members/schemas.js';

export const AddressBody = Type.Object(
  { email: Type.String({ minLength: 1, maxLength: 254 }) },
  { additionalProperties: false },
);

const LinkToken = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'What follows `#token=` in the mailed link.',
});

export const ResetPasswordBody = Type.Object(
  { token: LinkToken, password: Password },
  { additionalProperties: false },
);
export type ResetPasswordBody = Type.Static<typeof ResetPasswordBody>;

export const AcceptInvitationBody = Type.Object(
  { token: LinkToken, fullName: Type.Optional(FullName), password: Password },
  { additionalProperties: false },
);
export type AcceptInvitationBody = Type.Static<typeof AcceptInvitationBody>;

export const LinkBody = Type.Object({ token: LinkToken }, { additionalProperties: false });

export const LinkResponse = Type.Object({
  link: Type.Object(
    {
      purpose: Type.Union([Type.Literal('invitation'), Type.Literal('password_reset')]),
      email: Type.String(),
      fullName: Type.String(),
      organisation: Type.String({ description: 'Its name.' }),
      expiresAt: Type.String({ format: 'date-time' }),
    },
    { title: 'Link' },
  ),
});
export type LinkResponse = Type.Static<typeof LinkResponse>;
