import { Type } from 'typebox';

export const ConfirmSessionBody = Type.Object(
  { currentPassword: Type.String({ minLength: 1, maxLength: 256 }) },
  { additionalProperties: false },
);

export const SessionConfirmed = Type.Object({
  message: Type.String(),
  confirmedUntil: Type.String({ format: 'date-time' }),
});
