// Apart from the others: no service calls identity's API this way, and its schemas need not be loaded by those that call others.
import { identityOperations } from './generated/identity.operations.js';
import type { operations as IdentityOperations } from './generated/identity.types.js';
import { createServiceClient, type ServiceClient, type ServiceClientOptions } from './service-client.js';

export { identityOperations };
export type { IdentityOperations };

export type IdentityClient = ServiceClient<IdentityOperations>;

export const createIdentityClient = (options: Omit<ServiceClientOptions, 'service'>): IdentityClient =>
  createServiceClient<IdentityOperations>(identityOperations, { service: 'identity', ...options });
