import { standardErrors } from '@platform/service-kit';
import type { TSchema } from 'typebox';

/** The security requirement of a route that needs a credential. */
export const bearer: { [scheme: string]: string[] }[] = [{ bearer: [] }];

/** Returns the response schemas of a route's errors. Every route can also fail with 503. */
export const errorResponses = <S extends number>(...statuses: readonly S[]): Record<S, TSchema> =>
  Object.fromEntries([...statuses, 503].map((status) => [status, standardErrors.schema])) as Record<
    S,
    TSchema
  >;
