import { Type } from 'typebox';
import { User } from '../../members/members/schemas.js';

export const LoginBody = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 254 }),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    otp: Type.Optional(
      Type.String({ pattern: '^[0-9]{6}$', description: 'The mailed code, in place of the password.' }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ email: 'ada@example.com', password: 'correct horse battery' }],
    'x-documented': { oneOf: [{ required: ['password'] }, { required: ['otp'] }] },
  },
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

/** The 401 of a login: wrong credentials, or a step that is missing. */
export const LoginRefused = Type.Object(
  {
    error: Type.Object({
      code: Type.String({
        description:
          '`INVALID_CREDENTIALS`; `SECOND_FACTOR_REQUIRED`: the first factor was right, go on with `signIn`; `SECOND_FACTOR_ENROLMENT_REQUIRED`: the same, and the member has to set one up; `PROVIDER_REQUIRED`: the member has to sign in with the identity provider of the organisation, in a browser.',
      }),
      message: Type.String(),
    }),
    signIn: Type.Optional(
      Type.Object({
        challenge: Type.String({
          description: 'Stands for this login at `/api/v1/auth/login/second-factor`, once.',
        }),
        expiresAt: Type.String({ format: 'date-time' }),
      }),
    ),
  },
  { title: 'LoginRefused' },
);
