import type { IdentitySchemas } from '@platform/clients/types';

export type ServiceAccount = IdentitySchemas['schemas']['OrganisationServiceAccount'];
