import { Type } from 'typebox';
import { User } from '../users/schemas.js';

export const LoginBody = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 254 }),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    otp: Type.Optional(
      Type.String({ pattern: '^[0-9]{6}$', description: 'The mailed code, in place of the password.' }),
    ),
  },
  { additionalProperties: false },
);
export type LoginBody = Type.Static<typeof LoginBody>;

export const LoginResponse = Type.Object(
  {
    accessToken: Type.String(),
    tokenType: Type.Literal('Bearer'),
    expiresIn: Type.Integer({ description: 'Seconds.' }),
    expiresAt: Type.String({ format: 'date-time' }),
    user: User,
  },
  { title: 'Session' },
);
export type LoginResponse = Type.Static<typeof LoginResponse>;
