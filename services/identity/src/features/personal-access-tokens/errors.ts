import { type AppError, notFound } from '@platform/service-kit';

/** Unknown, another's, revoked and expired: one and the same. */
export const tokenNotFound = (): AppError => notFound('Token not found');
