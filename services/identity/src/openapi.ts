import { standardErrors } from '@platform/service-kit';
import type { TSchema } from 'typebox';

/** The security requirement of a route that needs a credential. */
export const bearer: { [scheme: string]: string[] }[] = [{ bearer: [] }];

/** The refusals of a route, in this service's one shape. 429, 500 and 503 can come from any. */
export const errorResponses = <S extends number>(...statuses: readonly S[]): Record<S, TSchema> =>
  Object.fromEntries([...statuses, 503].map((status) => [status, standardErrors.schema])) as Record<
    S,
    TSchema
  >;
