import type { IdentitySchemas } from '@platform/clients/types';

export type ConnectedApp = IdentitySchemas['schemas']['ConnectedApp'];
export type OwnedApp = IdentitySchemas['schemas']['OwnedConnectedApp'];
export type EventSubscription = IdentitySchemas['schemas']['EventSubscription'];
export type OwnedSubscription = IdentitySchemas['schemas']['OwnedEventSubscription'];
