import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorFormat } from '../error-format.js';
import type { AppError } from '../errors.js';
import { createServerErrorLog } from '../telemetry/server-error-log.js';
import { translateError } from './translate-error.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Called with each error that a request is answered with, before the answer is sent. It does no I/O and does not throw. */
    observeError?: (error: AppError, request: FastifyRequest) => void;
  }
}

/** The statuses of requests whose end is unknown or does not come; the rest of their body is not read. */
const CLOSING_STATUSES: ReadonlySet<number> = new Set([400, 408]);

/**
 * Creates a handler that sends errors in the service's format. It logs server errors with their cause and the request's
 * id; client errors are only sent.
 */
export function createErrorHandler(format: ErrorFormat) {
  const logServerError = createServerErrorLog();
  const bodies = new WeakMap<AppError, string>();
  const render = (error: AppError) =>
    format.render({
      status: error.statusCode,
      code: error.code,
      message: error.message,
      details: error.details,
    });
  function renderOnce(error: AppError): string {
    const rendered = bodies.get(error);
    if (rendered !== undefined) return rendered;
    const body = JSON.stringify(render(error));
    bodies.set(error, body);
    return body;
  }
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error: AppError = translateError(thrown);
    request.server.observeError?.(error, request);
    if (error.statusCode >= 500) {
      const { message, statusCode } = error;
      logServerError(request.log, { error: error.cause ?? error, message, isOutage: statusCode === 503 });
    }
    if (error.headers) void reply.headers(error.headers);
    if (reply.hasHeader('connection') && !CLOSING_STATUSES.has(error.statusCode) && !request.raw.complete)
      discardBody(request, reply);
    void reply.code(error.statusCode);
    if (error.isReused) void reply.type('application/json; charset=utf-8').send(renderOnce(error));
    else void reply.send(render(error));
  };
}

/**
 * Reads and discards the rest of a refused body, until the request's timeout at the latest. Fastify would close the
 * connection at once. A client that is still writing would then see a reset and lose the response, and a gateway would
 * turn that into a 502.
 */
function discardBody(request: FastifyRequest, reply: FastifyReply): void {
  void reply.removeHeader('connection');
  // The copy that measures the body's time is full and would stop the flow again.
  request.raw.unpipe().resume();
}
