import { createErrorResponses } from '@platform/service-kit';
import { type TSchema, Type } from 'typebox';
import { crawlErrors } from './error-format.js';

/** Describes errors in the format of this service. */
export const errorResponses = createErrorResponses(crawlErrors);

/** `{success: true, message, data}`. */
export const successResponse = <T extends TSchema>(data: T) =>
  Type.Object({ success: Type.Literal(true), message: Type.String(), data });

export const Success = Type.Object({ success: Type.Literal(true), message: Type.String() });
