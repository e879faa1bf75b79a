import { AppError, type FaultDetail } from '@platform/service-kit';

/** The messages with which a service rejects credentials; statuses and challenges are the same in every service. */
export interface AuthErrorMessages {
  readonly missingCredential: string;
  readonly invalidCredential: string;
  readonly insufficientScope: string;
}

export const standardAuthErrors: AuthErrorMessages = {
  missingCredential: 'Authorization header not found',
  invalidCredential: 'Invalid or expired token',
  insufficientScope: 'Invalid token scope',
};

const realm = 'Bearer realm="platform"';

const createMissing = (messages: AuthErrorMessages, details: readonly FaultDetail[] | undefined): AppError =>
  new AppError({
    status: 401,
    code: 'UNAUTHORIZED',
    message: messages.missingCredential,
    ...(details && { details }),
    headers: { 'www-authenticate': realm },
    isReused: true,
  });

/** Creates the 401 for a request without a credential; its challenge has no error code (RFC 6750 §3). */
export const missingCredential = (messages: AuthErrorMessages): AppError =>
  createMissing(messages, undefined);

/** The same for a request whose `Authorization` header has another scheme, or is not of the form of its scheme. */
export const unreadableCredential = (messages: AuthErrorMessages): AppError =>
  createMissing(messages, [
    { field: 'authorization', message: 'was sent, but must have the form `Bearer <token>`' },
  ]);

/** Creates the 401 for any invalid credential. It is the same for garbage, expired, revoked and orphaned ones. */
export const invalidCredential = (messages: AuthErrorMessages): AppError =>
  new AppError({
    status: 401,
    code: 'UNAUTHORIZED',
    message: messages.invalidCredential,
    headers: { 'www-authenticate': `${realm}, error="invalid_token"` },
    isReused: true,
  });

export const insufficientScope = (messages: AuthErrorMessages, scopes: readonly string[]): AppError =>
  new AppError({
    status: 403,
    code: 'INSUFFICIENT_SCOPE',
    message: messages.insufficientScope,
    headers: { 'www-authenticate': `${realm}, error="insufficient_scope", scope="${scopes.join(' ')}"` },
  });

/** Creates the 403 for a session cookie without the proof that a page of this origin sent the request. */
export const foreignOrigin = (): AppError =>
  new AppError({
    status: 403,
    code: 'SAME_ORIGIN_REQUIRED',
    message: 'A request with a session cookie must come from this origin and repeat its x-csrf-token',
    isReused: true,
  });
