import { createBatcher } from '@platform/service-kit';
import type { SignedCredential } from './credential.js';
import { type Call, CONNECTIONS, identityUnavailable } from './identity-caller.js';
import {
  MAX_ADDRESS_LENGTH,
  MAX_INTROSPECTION_BATCH,
  type Introspection,
  type IntrospectionClient,
  MAX_USER_AGENT_LENGTH,
  INTROSPECTION_PATH,
  type IntrospectionBatch,
} from './introspection.js';
import type { LiveOwner, Liveness, Presentation } from './liveness.js';
import type { ServiceToken } from './service-token.js';

/** The time for which requests are collected into a batch: a few times as long as identity takes to respond. */
const MAX_WAIT_MS = 3;

interface LivenessQuery {
  readonly credential: SignedCredential;
  readonly presentation: Presentation;
}

const toIntrospectionClient = ({ address, userAgent }: Presentation): IntrospectionClient => ({
  ...(address !== undefined && address.length <= MAX_ADDRESS_LENGTH && { address }),
  ...(userAgent !== undefined && { userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH) }),
});

/**
 * @param signedScope - the scopes in the credential's claims. Identity returns fewer if some have been removed since.
 */
function toLiveOwner(
  {
    active,
    role = 'member',
    username,
    name,
    scope,
    service_account: isServiceAccount = false,
    authorization_details: [bounds] = [],
  }: Introspection,
  signedScope: string | undefined,
): LiveOwner | undefined {
  if (!active) return undefined;
  const owner = {
    role,
    email: username ?? '',
    fullName: name ?? '',
    isServiceAccount,
    ...(bounds && { bounds }),
  };
  if (signedScope === undefined || scope === undefined || scope === signedScope) return owner;
  return { ...owner, scopes: new Set(scope.split(' ')) };
}

/** Asks identity, in batches, whether credentials are active. */
export function createRemoteLiveness(call: Call, serviceToken: ServiceToken): Liveness {
  async function introspect(
    queries: readonly LivenessQuery[],
    requestId: string | undefined,
    isRetry = false,
  ): Promise<IntrospectionBatch['results']> {
    const { status, body } = await call(
      'POST',
      INTROSPECTION_PATH,
      {
        authorization: `Bearer ${await serviceToken.get()}`,
        'content-type': 'application/json',
        ...(requestId !== undefined && { 'x-request-id': requestId }),
      },
      JSON.stringify({
        tokens: queries.map(({ credential }) => credential.token),
        clients: queries.map(({ presentation }) => toIntrospectionClient(presentation)),
      }),
    );
    if (status === 401 && !isRetry) {
      serviceToken.forget();
      return introspect(queries, requestId, true);
    }
    if (status !== 200) throw new Error(`identity answered ${status} to an introspection`);
    return (body as IntrospectionBatch).results;
  }

  async function load(queries: readonly LivenessQuery[]): Promise<(LiveOwner | undefined)[]> {
    try {
      // A batch serves many requests but carries one request id, that of the first.
      const results = await introspect(queries, queries[0]?.presentation.requestId);
      if (results.length !== queries.length) throw new Error('identity answered another number of tokens');
      return results.map((result, index) => toLiveOwner(result, queries[index]?.credential.claims.scope));
    } catch (error) {
      throw identityUnavailable(error);
    }
  }

  const getLiveness = createBatcher({
    toKey: ({ credential, presentation: { address } }: LivenessQuery) => `${credential.digest} ${address}`,
    load,
    maxBatch: MAX_INTROSPECTION_BATCH,
    maxInFlight: CONNECTIONS,
    maxWaitMs: MAX_WAIT_MS,
  });

  return (credential, presentation = {}) => getLiveness({ credential, presentation });
}
