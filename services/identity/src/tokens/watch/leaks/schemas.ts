import { Type } from 'typebox';

const MAX_TOKENS = 1_000;
export const MAX_REPORTED_LENGTH = 4_096;

export const LeakReportBody = Type.Object(
  {
    tokens: Type.Array(
      Type.Object(
        {
          token: Type.String({ minLength: 1, maxLength: MAX_REPORTED_LENGTH }),
          url: Type.Optional(Type.String({ maxLength: 2_048, description: 'Where it was found.' })),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: MAX_TOKENS },
    ),
  },
  { additionalProperties: false },
);
export type LeakReportBody = Type.Static<typeof LeakReportBody>;
