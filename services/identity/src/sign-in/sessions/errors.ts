import { AppError } from '@platform/service-kit';

/** Creates a 401 of a sign-in. */
export const unauthorised = (code: string, message: string): AppError =>
  new AppError({
    status: 401,
    code,
    message,
    headers: { 'www-authenticate': 'Bearer realm="platform"' },
  });

/** The error is the same for an unknown account, an account without a password, a wrong password and a wrong code. */
export const wrongCredentials = (): AppError =>
  unauthorised('INVALID_CREDENTIALS', 'Invalid e-mail or password');

/** Members of the domain have to sign in with the organisation's provider. The error is the same for any account there. */
export const providerRequired = (): AppError =>
  unauthorised('PROVIDER_REQUIRED', 'Your organisation requires you to sign in with its identity provider');
