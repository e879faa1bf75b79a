import { AppError, conflict } from '@platform/service-kit';

/** The state is unknown, expired or used, or belongs to another browser; or the settings have changed since. */
export const signInExpired = (): AppError =>
  new AppError({
    status: 400,
    code: 'SIGN_IN_EXPIRED',
    message: 'This sign-in has expired, or began in another browser: begin again',
  });

export const noConnection = (): AppError =>
  conflict('NOT_LINKED', 'Your account is not connected with an identity at the provider');

export const noProvider = (): AppError =>
  new AppError({
    status: 400,
    code: 'NO_PROVIDER',
    message: 'No organisation has set up a sign-in for this e-mail domain',
  });

export const providerUnavailable = (cause: unknown): AppError =>
  new AppError({
    status: 503,
    code: 'PROVIDER_UNAVAILABLE',
    message: "Your organisation's identity provider cannot be reached, or answers wrongly: try again later",
    cause,
    headers: { 'retry-after': '10' },
  });

/** The provider, or its answer, was not good enough. What exactly is in the log and the audit. */
export const signInRefused = (cause?: unknown): AppError =>
  new AppError({
    status: 400,
    code: 'SIGN_IN_REFUSED',
    message: "The sign-in with your organisation's identity provider did not succeed",
    cause,
  });

/** Why a person whom the provider has authenticated is not signed in. */
export const refusals = {
  email_not_verified: 'Your identity provider does not vouch for your e-mail address',
  foreign_domain: 'Your e-mail address is outside the verified domains of this organisation',
  other_organisation: 'Your account cannot sign in here: ask your administrator',
  other_subject: 'Your account belongs to another identity at the provider: ask your administrator',
  was_removed: 'You are no longer a member of this organisation: ask your administrator to invite you',
  not_fresh: 'Your identity provider does not say that you have just signed in: use your password',
  other_person: 'You have signed in at the provider as somebody else',
  not_a_member: 'You are not a member of this organisation yet: ask your administrator to invite you',
} as const;
export type Refusal = keyof typeof refusals;

export class Refused extends AppError {
  constructor(
    readonly reason: Refusal,
    readonly email: string | undefined,
  ) {
    super({ status: 403, code: 'NOT_ADMITTED', message: refusals[reason] });
  }
}
