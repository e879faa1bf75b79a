import { AppError, createErrorHandler, createValidatorCompiler } from '@platform/service-kit';
import type { FastifySchemaCompiler } from 'fastify';
import { crawlErrors } from '../../error-family.js';
import { invalidSchedule } from './errors.js';

const compile = createValidatorCompiler();
const handle = createErrorHandler(crawlErrors);

interface OwnBodyCheck {
  readonly validatorCompiler: FastifySchemaCompiler<unknown>;
  readonly errorHandler: typeof handle;
}

/**
 * For routes whose body the service checks by itself: by the schedule's type, so that the faults
 * are those of its type alone. The schema is what the documentation shows. What the JSON parser
 * refuses is told as a fault of the schedule, too.
 */
export const ownBodyCheck: OwnBodyCheck = {
  validatorCompiler: (route) => (route.httpPart === 'body' ? () => true : compile(route)),
  errorHandler: (error, request, reply) => {
    const isParserFault = error instanceof AppError && error.message === 'Invalid request';
    handle(isParserFault ? invalidSchedule(error.details ?? []) : error, request, reply);
  },
};
