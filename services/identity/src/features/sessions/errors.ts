import { AppError } from '@platform/service-kit';

/** The error is the same for an unknown account, an account without a password, a wrong password and a wrong code. */
export const wrongCredentials = (): AppError =>
  new AppError({
    status: 401,
    code: 'INVALID_CREDENTIALS',
    message: 'Invalid e-mail or password',
    headers: { 'www-authenticate': 'Bearer realm="platform"' },
  });
