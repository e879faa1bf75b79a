import type { Clock } from '@platform/service-kit';
import { createCaller } from './identity-caller.js';
import type { KeySet } from './key-set.js';
import type { Liveness } from './liveness.js';
import { createPublishedKeys } from './published-keys.js';
import { createRemoteLiveness } from './remote-liveness.js';
import { createServiceToken } from './service-token.js';

/** How another service reaches identity. */
export interface IdentityClientOptions {
  /** Identity's own base URL, inside the cluster. */
  readonly identityUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly clock: Clock;
  /** Called when loading the keys fails; called again only after they have been loaded in between. */
  readonly onKeysFailed?: (error: unknown) => void;
}

export interface IdentityClient {
  readonly keySet: KeySet;
  readonly liveness: Liveness;
  /** Returns this service's own credential, for calling another service. */
  serviceToken(): Promise<string>;
  /** Loads the keys and keeps them fresh until closed. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Verifies credentials for the other services: keys come from identity's JWKS, liveness from its introspection. */
export function createIdentityClient(options: IdentityClientOptions): IdentityClient {
  const { call, close } = createCaller(options.identityUrl);
  const serviceToken = createServiceToken(call, options);
  const keys = createPublishedKeys(call, options.onKeysFailed ?? (() => undefined));
  return {
    keySet: keys.keySet,
    liveness: createRemoteLiveness(call, serviceToken),
    serviceToken: () => serviceToken.get(),
    start: keys.start,
    async close() {
      keys.close();
      await close();
    },
  };
}
