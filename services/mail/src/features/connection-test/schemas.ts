import { Type } from 'typebox';
import { TestedSmtp } from '../emails/schemas.js';

/** The body may be left out. */
export const TestConnectionBody = Type.Union([
  Type.Object({ smtp: TestedSmtp }, { additionalProperties: false, title: 'TestConnectionBody' }),
  Type.Null(),
]);

const NullableString = Type.Union([Type.String(), Type.Null()]);

/** The steps of a test. */
const steps = ['token', 'connection', 'login', 'permission', 'smtp_auth'] as const;

/** Says in one sentence what is wrong, and what an administrator can do about it. */
export interface Explanation {
  /** The step that failed: by default the connection. */
  readonly step?: (typeof steps)[number];
  readonly message: string;
  readonly advice: string;
}

export const ConnectionReport = Type.Object(
  {
    ok: Type.Boolean(),
    server: Type.String({ description: 'host:port' }),
    durationMs: Type.Integer(),
    tls: Type.Union([Type.Literal('implicit'), Type.Literal('starttls'), Type.Null()], {
      description: 'Null when the connection is in clear text, or when there is none.',
    }),
    authenticated: Type.Boolean({ description: 'Whether the server accepted the login.' }),
    warnings: Type.Array(Type.String()),
    problem: Type.Union([
      Type.Object({
        step: Type.Enum([...steps], {
          description:
            '`token`: the provider issued none; `connection`; `login`; `permission`: the server refused the token; `smtp_auth`: the login is switched off.',
        }),
        code: Type.String(),
        reply: Type.Optional(Type.Integer()),
        detail: Type.Optional(NullableString),
        message: Type.String(),
        advice: Type.String(),
      }),
      Type.Null(),
    ]),
  },
  { title: 'ConnectionReport' },
);
export type ConnectionReport = Type.Static<typeof ConnectionReport>;
