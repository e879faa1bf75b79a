import { AppError } from '@platform/service-kit';

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

/** RFC 6750 §3: no error code where no credential was sent. */
export const missingCredential = (messages: AuthErrorMessages): AppError =>
  new AppError({
    status: 401,
    code: 'UNAUTHORIZED',
    message: messages.missingCredential,
    headers: { 'www-authenticate': realm },
    isReused: true,
  });

/** One answer for garbage, expired, revoked and orphaned: which it is, is nobody's business. */
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
