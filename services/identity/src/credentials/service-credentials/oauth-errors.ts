import { AppError, translateError } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';

/** The error response of RFC 6749 §5.2. */
export const OAuthError = Type.Object(
  { error: Type.String(), error_description: Type.String() },
  { title: 'OAuthError' },
);

/** Responses of the token endpoint must not be stored by caches (RFC 6749 §5.1). */
export const NO_STORE_HEADERS = { 'cache-control': 'no-store', pragma: 'no-cache' } as const;

export type OAuthErrorCode = 'invalid_client' | 'invalid_scope' | 'unsupported_grant_type';

export const oauthError = (code: OAuthErrorCode, message: string): AppError =>
  code === 'invalid_client'
    ? new AppError({
        status: 401,
        code,
        message,
        headers: { 'www-authenticate': 'Basic realm="platform", charset="UTF-8"' },
      })
    : new AppError({ status: 400, code, message });

/** Renders errors in OAuth's format. OAuth defines none for statuses other than 400 and 401; those keep our own format. */
export function sendOAuthError(thrown: unknown, _request: FastifyRequest, reply: FastifyReply): void {
  const error = translateError(thrown);
  if (error.statusCode !== 400 && error.statusCode !== 401) throw error;
  const isOAuthCode = /^[a-z_]+$/.test(error.code);
  void reply
    .code(error.statusCode)
    .headers({ ...error.headers, ...NO_STORE_HEADERS })
    .send({ error: isOAuthCode ? error.code : 'invalid_request', error_description: error.message });
}
