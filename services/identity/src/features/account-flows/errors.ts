import { AppError } from '@platform/service-kit';

/** The same for an unknown, used, expired and replaced link, and for a member who was removed. */
export const linkInvalid = (): AppError =>
  new AppError({
    status: 400,
    code: 'LINK_INVALID',
    message: 'This link does not work any more: ask for a new one',
  });
