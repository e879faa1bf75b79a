import { type AppError, conflict, notFound, validationError } from '@platform/service-kit';

export const endpointNotFound = (): AppError => notFound('Endpoint not found');
export const endpointInUse = (): AppError =>
  conflict('ENDPOINT_IN_USE', 'A schedule uses the endpoint: replace or remove the schedule first');
export const tooManyEndpoints = (max: number): AppError =>
  conflict('TOO_MANY_ENDPOINTS', `An organisation can have ${max} endpoints`);
export const urlRefused = (message: string): AppError => validationError([{ field: 'url', message }]);
