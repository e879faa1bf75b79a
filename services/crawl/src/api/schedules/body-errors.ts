import {
  AppError,
  createErrorHandler,
  createValidatorCompiler,
  findInexactNumber,
  getBodyText,
  readJsonText,
} from '@platform/service-kit';
import type { FastifyRequest, FastifySchemaCompiler } from 'fastify';
import { crawlErrors } from '../error-format.js';
import { invalidSchedule } from './errors.js';

const compile = createValidatorCompiler();
const handle = createErrorHandler(crawlErrors);

interface OwnBodyCheck {
  readonly validatorCompiler: FastifySchemaCompiler<unknown>;
  readonly errorHandler: typeof handle;
}

const isMalformed = (error: unknown): boolean =>
  (error as { code?: unknown }).code === 'FST_ERR_CTP_INVALID_JSON_BODY';

function toScheduleFault(error: unknown): unknown {
  if (isMalformed(error)) return invalidSchedule([{ field: 'body', message: 'is not valid JSON' }]);
  return error instanceof AppError && error.message === 'Invalid request'
    ? invalidSchedule(error.details ?? [])
    : error;
}

/**
 * For routes whose body the service validates itself, against the schema of the schedule's type, so that faults are
 * described in terms of that type alone. Fastify's schema is only for the documentation. A body that is not JSON is
 * reported as a fault of the schedule, too.
 */
export const ownBodyCheck: OwnBodyCheck = {
  validatorCompiler: (route) => (route.httpPart === 'body' ? () => true : compile(route)),
  errorHandler: (error, request, reply) => {
    handle(toScheduleFault(error), request, reply);
  },
};

const MAX_SHOWN_LENGTH = 40;

/** @throws AppError 400 for metadata with a number that would be another one after JavaScript has read it. */
export function checkNumbers(request: FastifyRequest): void {
  const metadata = readJsonText(getBodyText(request) ?? '', ['metadata']);
  const number = metadata && findInexactNumber(metadata);
  if (number === undefined || number === '') return;
  const message = `must not have the number ${number.slice(0, MAX_SHOWN_LENGTH)}, which JavaScript cannot represent: send it as text`;
  throw invalidSchedule([{ field: 'metadata', message }]);
}
