import { Type } from 'typebox';
import { FullName, Password } from '../users/schemas.js';

export const AddressBody = Type.Object(
  { email: Type.String({ minLength: 1, maxLength: 254 }) },
  { additionalProperties: false },
);

const LinkToken = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'The query parameter `token` of the mailed link.',
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

export const Message = Type.Object({ message: Type.String() });
