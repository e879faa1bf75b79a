import type { IdentitySchemas } from '@platform/clients/types';

export type Session = IdentitySchemas['schemas']['OpenSession'];
