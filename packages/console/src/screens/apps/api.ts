import type { IdentitySchemas } from '@platform/clients/types';

export type ConnectedApp = IdentitySchemas['schemas']['ConnectedApp'];
export type OwnedApp = IdentitySchemas['schemas']['OwnedConnectedApp'];
