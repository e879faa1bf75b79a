import { type AppError, conflict, notFound, validationError } from '@platform/service-kit';

export const hookNotFound = (): AppError => notFound('Hook not found');
export const tooManyHooks = (max: number): AppError =>
  conflict('TOO_MANY_HOOKS', `An instance of a connector can have ${max} hooks`);
export const secretRefused = (): AppError =>
  validationError([
    { field: 'secret', message: 'must be whsec_ and 24 to 64 bytes in Base64 for Standard Webhooks' },
  ]);
