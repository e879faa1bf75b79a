import { AppError } from '@platform/service-kit';

const LINK_INVALID = 'LINK_INVALID';

/** The error is the same for an unknown, used, expired or replaced link, and for a removed member. */
export const linkInvalid = (): AppError =>
  new AppError({
    status: 400,
    code: LINK_INVALID,
    message: 'This link does not work any more: ask for a new one',
  });

export const isLinkInvalid = (error: unknown): boolean =>
  error instanceof AppError && error.code === LINK_INVALID;
