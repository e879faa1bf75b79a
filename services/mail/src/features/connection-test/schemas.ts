import { Type } from 'typebox';

const NullableString = Type.Union([Type.String(), Type.Null()]);

export const ConnectionReport = Type.Object(
  {
    ok: Type.Boolean(),
    server: Type.String({ description: 'host:port' }),
    durationMs: Type.Integer(),
    tls: Type.Union([Type.Object({ protocol: Type.String(), cipher: Type.String() }), Type.Null()], {
      description: 'Null when the connection is in clear text, or when there is none.',
    }),
    auth: Type.Union([Type.String(), Type.Null()], { description: 'The mechanism that was used to log in.' }),
    warnings: Type.Array(Type.String()),
    problem: Type.Union([
      Type.Object({
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
