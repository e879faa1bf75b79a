import { AppError } from '@platform/service-kit';

/** The same for an unknown account, one without a password, a wrong password and a wrong code. */
export const wrongCredentials = (): AppError =>
  new AppError({
    status: 401,
    code: 'INVALID_CREDENTIALS',
    message: 'Invalid e-mail or password',
    headers: { 'www-authenticate': 'Bearer realm="platform"' },
  });
