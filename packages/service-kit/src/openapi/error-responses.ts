import type { FastifySchema } from 'fastify';
import type { TSchema } from 'typebox';
import { type ErrorFormat, type PublicError, standardErrors } from '../error-format.js';
import {
  AppError,
  dependencyUnavailable,
  invalidJson,
  tooManyRequests,
  toStatusError,
  validationError,
} from '../errors.js';

/** The keyword of a response's schema, and of a route's, for the errors that the document lists. */
const KEYWORD = 'x-errors';

const toPublicError = ({ statusCode: status, code, message, details }: AppError): PublicError => ({
  status,
  code,
  message,
  details,
});

/** What a status means where a route says no more. A 401 or 403 is declared by the guard that refuses the caller. */
const errorsByStatus: Readonly<Record<number, readonly AppError[]>> = {
  400: [validationError([{ field: 'name', message: 'is required' }]), toStatusError(400)],
  404: [toStatusError(404)],
  408: [toStatusError(408)],
  413: [toStatusError(413)],
  415: [toStatusError(415)],
  429: [tooManyRequests(30)],
  500: [new AppError({ status: 500, code: 'INTERNAL_ERROR', message: 'Internal server error' })],
  503: [dependencyUnavailable('database')],
};
const findErrors = (status: number): readonly PublicError[] =>
  (errorsByStatus[status] ?? []).map(toPublicError);

/** The errors that any body can cause: it is not JSON, incomplete, too large, or of another type. */
export const bodyErrors: readonly PublicError[] = [
  ...[400, 408, 413, 415].flatMap(findErrors),
  toPublicError(invalidJson()),
];

/** The error that stands for those that a document does not list. */
export const [internalError] = findErrors(500) as [PublicError];

/** Returns the errors that a schema declares. */
export const readErrors = (schema: object): readonly PublicError[] =>
  (schema as { readonly [KEYWORD]?: readonly PublicError[] })[KEYWORD] ?? [];

/** Removes the declared errors from a schema. */
export function withoutErrors<S extends object>(schema: S): Omit<S, typeof KEYWORD> {
  const { [KEYWORD]: _errors, ...rest } = schema as S & { readonly [KEYWORD]?: unknown };
  return rest;
}

/** Declares which errors a response of its own form may be. */
export const withErrors = <S extends TSchema>(schema: S, errors: readonly AppError[]): S => ({
  ...schema,
  [KEYWORD]: errors.map(toPublicError),
});

/** Declares errors of a route that its own responses do not: what its guards refuse. Several routes may have the schema. */
export const addErrors = (schema: FastifySchema, errors: readonly AppError[]): FastifySchema =>
  Object.assign({}, schema, { [KEYWORD]: [...readErrors(schema), ...errors.map(toPublicError)] });

/**
 * Returns a function that describes a route's errors, which all have the same body. A status stands for its usual error;
 * another one is given as it is thrown, so that the document lists its code. Every route can also fail with 503.
 */
export const createErrorResponses =
  ({ schema }: ErrorFormat) =>
  <S extends number>(...declared: readonly (S | AppError)[]): Record<S, TSchema> => {
    const responses = new Map<number, PublicError[]>();
    for (const one of [...declared, 503]) {
      const status = typeof one === 'number' ? one : one.statusCode;
      const errors = typeof one === 'number' ? findErrors(one) : [toPublicError(one)];
      responses.set(status, [...(responses.get(status) ?? []), ...errors]);
    }
    return Object.fromEntries(
      [...responses].map(([status, errors]) => [status, { ...schema, [KEYWORD]: errors }]),
    ) as unknown as Record<S, TSchema>;
  };

/** Describes errors in the standard format. */
export const errorResponses = createErrorResponses(standardErrors);
