import type { FastifyRequest } from 'fastify';

const headers = {
  // What an API answers is about somebody. The few routes whose responses are for everybody replace this.
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // An API's responses load nothing and are never framed; `frame-ancestors` obsoletes X-Frame-Options (CSP Level 2 §7.7).
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
} as const;

const headersOverTls = {
  ...headers,
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
} as const;

/** Returns the headers of every response. Strict-Transport-Security needs TLS (RFC 6797 §7.2), maybe ended by a proxy. */
export const securityHeadersFor = ({ protocol }: Pick<FastifyRequest, 'protocol'>): typeof headers =>
  protocol === 'https' ? headersOverTls : headers;
