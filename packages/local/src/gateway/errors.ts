import type { FastifyReply } from 'fastify';
import type { ErrorShape } from '../services.js';

/** An answer that the gateway gives in the place of a service. */
export interface GatewayError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export const NOT_FOUND: GatewayError = { status: 404, code: 'NOT_FOUND', message: 'Not found' };
const REQUEST_TIMEOUT: GatewayError = {
  status: 408,
  code: 'REQUEST_TIMEOUT',
  message: 'Request timeout',
};
export const METHOD_NOT_ALLOWED: GatewayError = {
  status: 405,
  code: 'METHOD_NOT_ALLOWED',
  message: 'Method not allowed',
};
export const MALFORMED: GatewayError = { status: 400, code: 'BAD_REQUEST', message: 'Bad request' };
export const HEADERS_TOO_LARGE: GatewayError = {
  status: 431,
  code: 'HEADERS_TOO_LARGE',
  message: 'Request header fields are too large',
};
const UNAVAILABLE: GatewayError = {
  status: 503,
  code: 'SERVICE_UNAVAILABLE',
  message: 'Service temporarily unavailable',
};
const BAD_GATEWAY: GatewayError = { status: 502, code: 'BAD_GATEWAY', message: 'The service did not answer' };
const TIMEOUT: GatewayError = {
  status: 504,
  code: 'GATEWAY_TIMEOUT',
  message: 'The service did not answer in time',
};

/** The body of an error as the clients of the service expect it. */
export function renderError({ code, message }: GatewayError, shape: ErrorShape): unknown {
  return shape === 'crawl'
    ? { success: false, message, error: { code, details: [] } }
    : { error: { code, message } };
}

export function sendError(
  reply: FastifyReply,
  error: GatewayError,
  shape: ErrorShape = 'standard',
): FastifyReply {
  if (error === UNAVAILABLE) reply.header('retry-after', '1');
  return reply.code(error.status).send(renderError(error, shape));
}

/** The code of the error that ends the body of a request which stopped. */
export const BODY_STALLED = 'BODY_STALLED';

/** What a fault of the connection to a service is to the client. */
export function explainUpstreamFault(thrown: unknown): GatewayError {
  const codes = getCodes(thrown);
  if (codes.includes(BODY_STALLED)) return REQUEST_TIMEOUT;
  if (codes.some((code) => code === 'ECONNREFUSED' || code === 'ENOTFOUND')) return UNAVAILABLE;
  return codes.some((code) => /TIMEOUT/.test(code)) ? TIMEOUT : BAD_GATEWAY;
}

/** The proxy wraps the error of the connection, so the codes are along the chain. */
function getCodes(thrown: unknown): string[] {
  if (typeof thrown !== 'object' || thrown === null) return [];
  const { code, cause } = thrown as NodeJS.ErrnoException;
  return [...(code === undefined ? [] : [code]), ...getCodes(cause)];
}

/** What a fault that Fastify or Node's parser finds is to the client. */
export function explainRequestFault(statusCode: number | undefined): GatewayError {
  if (statusCode === 404) return NOT_FOUND;
  if (statusCode === 431) return HEADERS_TOO_LARGE;
  if (statusCode === 408) return REQUEST_TIMEOUT;
  if (statusCode === 415) {
    return {
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: 'The media type of the body is not valid',
    };
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return { ...MALFORMED, status: statusCode };
  return { status: 500, code: 'INTERNAL_ERROR', message: 'Internal server error' };
}
