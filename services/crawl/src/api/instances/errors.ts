import { type AppError, conflict, notFound } from '@platform/service-kit';

export const instanceNotFound = (): AppError => notFound('Instance not found: save its properties first');
export const tooManyInstances = (): AppError =>
  conflict('TOO_MANY_INSTANCES', 'The organisation has too many instances of connectors');
