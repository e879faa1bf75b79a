import { type TSchema, Type } from 'typebox';
import type { FaultDetail } from './errors.js';

/** The public face of an error, before a family gives it its shape. */
export interface PublicError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: readonly FaultDetail[] | undefined;
}

/** How one service's clients expect errors to look. */
export interface ErrorFamily {
  readonly schema: TSchema;
  render(error: PublicError): unknown;
}

const Details = Type.Array(Type.Object({ field: Type.String(), message: Type.String() }));

/** `{error: {code, message, details?}}`: identity and mail. */
export const standardErrors: ErrorFamily = {
  schema: Type.Object(
    {
      error: Type.Object({
        code: Type.String(),
        message: Type.String(),
        details: Type.Optional(Details),
      }),
    },
    { title: 'Error' },
  ),
  render: ({ code, message, details }) => ({ error: { code, message, ...(details && { details }) } }),
};
