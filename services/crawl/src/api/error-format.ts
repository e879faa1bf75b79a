import type { ErrorFormat } from '@platform/service-kit';
import { Type } from 'typebox';

/**
 * Renders errors as `{success: false, message, error?: {code, details}}` (API-5). The details are one string, as this
 * API's clients expect.
 */
export const crawlErrors: ErrorFormat = {
  schema: Type.Object(
    {
      success: Type.Literal(false),
      message: Type.String(),
      error: Type.Optional(Type.Object({ code: Type.String(), details: Type.Optional(Type.String()) })),
    },
    { title: 'Error' },
  ),
  render: ({ code, message, details }) => ({
    success: false,
    message,
    error: {
      code,
      ...(details && { details: details.map((fault) => `${fault.field}: ${fault.message}`).join('; ') }),
    },
  }),
};
