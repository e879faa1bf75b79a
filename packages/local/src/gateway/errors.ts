import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorShape } from '../services.js';

/** An error that the gateway sends in place of a service. */
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

/** Renders the body of an error in the format that the clients of the service expect. */
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

/** A person who mistypes an address sees a page; nginx's configuration has the same one. */
const NOT_FOUND_PAGE =
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<meta name="color-scheme" content="light dark"><title>Not found</title>` +
  `<style>body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:20vh auto;padding:0 1rem}</style>` +
  `<h1>Not found</h1><p>There is nothing at this address. <a href="/">Open the console</a></p></html>`;

/** Sends a page to a browser that opens an address, and the error to everybody else. */
export function sendNotFound({ method, url, headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isPage = method === 'GET' && !/^\/api(?:[/?]|$)/.test(url) && headers.accept?.includes('text/html');
  if (!isPage) return sendError(reply, NOT_FOUND);
  return reply
    .code(404)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'`,
    })
    .send(NOT_FOUND_PAGE);
}

/** The code of the error for a request body that stopped. */
export const BODY_STALLED = 'BODY_STALLED';

/** Translates a fault of the connection to a service for the client. */
export function explainUpstreamFault(thrown: unknown): GatewayError {
  const codes = getCodes(thrown);
  if (codes.includes(BODY_STALLED)) return REQUEST_TIMEOUT;
  if (codes.some((code) => code === 'ECONNREFUSED' || code === 'ENOTFOUND')) return UNAVAILABLE;
  return codes.some((code) => /TIMEOUT/.test(code)) ? TIMEOUT : BAD_GATEWAY;
}

/** Returns the codes along the chain of causes, because the proxy wraps the error of the connection. */
function getCodes(thrown: unknown): string[] {
  if (typeof thrown !== 'object' || thrown === null) return [];
  const { code, cause } = thrown as NodeJS.ErrnoException;
  return [...(code === undefined ? [] : [code]), ...getCodes(cause)];
}

/** Translates a fault from Fastify or Node's parser for the client. */
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
