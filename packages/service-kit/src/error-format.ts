import { type TSchema, Type } from 'typebox';
import type { FaultDetail } from './errors.js';

/** The public part of an error, before a format gives it its shape. */
export interface PublicError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: readonly FaultDetail[] | undefined;
}

/** The shape in which a service sends errors to its clients. */
export interface ErrorFormat {
  readonly schema: TSchema;
  render(error: PublicError): unknown;
}

const Details = Type.Array(Type.Object({ field: Type.String(), message: Type.String() }));

/** Renders `{error: {code, message, details?}}`, as identity and mail do. */
export const standardErrors: ErrorFormat = {
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
