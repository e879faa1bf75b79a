import { Type } from 'typebox';
import { Password } from '../../members/members/schemas.js';

export const ChangePasswordBody = Type.Object(
  { currentPassword: Type.String({ minLength: 1, maxLength: 256 }), newPassword: Password },
  { additionalProperties: false },
);
export type ChangePasswordBody = Type.Static<typeof ChangePasswordBody>;

export const PasswordChanged = Type.Object({
  message: Type.String(),
  endedCount: Type.Integer({ description: 'How many other sessions were ended.' }),
});
