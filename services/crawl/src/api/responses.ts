import { type TSchema, Type } from 'typebox';
import { crawlErrors } from './error-format.js';

export const bearer: { [scheme: string]: string[] }[] = [{ bearer: [] }];

/** The refusals of a route, in this service's one shape. 503 can come from any. */
export const answers = <S extends number>(...statuses: readonly S[]): Record<S, TSchema> =>
  Object.fromEntries([...statuses, 503].map((status) => [status, crawlErrors.schema])) as Record<S, TSchema>;

/** `{success: true, message, data}`. */
export const successResponse = <T extends TSchema>(data: T) =>
  Type.Object({ success: Type.Literal(true), message: Type.String(), data });

export const Success = Type.Object({ success: Type.Literal(true), message: Type.String() });
