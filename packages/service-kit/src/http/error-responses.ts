import type { TSchema } from 'typebox';
import { type ErrorFormat, standardErrors } from '../error-format.js';

/** Returns a function that describes a route's errors, which all have the same body. Every route can also fail with 503. */
export const createErrorResponses =
  ({ schema }: ErrorFormat) =>
  <S extends number>(...statuses: readonly S[]): Record<S, TSchema> =>
    Object.fromEntries([...statuses, 503].map((status) => [status, schema])) as Record<S, TSchema>;

/** Describes errors in the standard format. */
export const errorResponses = createErrorResponses(standardErrors);
