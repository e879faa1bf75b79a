import {
  type Clock,
  createEgress,
  createPermits,
  tooManyRequests,
  createHostResolver,
  createWebhookSecrets,
  readWebhookKeys,
  replaceWebhookSecret,
  type SecretBox,
  type Target,
} from '@platform/service-kit';
import type pg from 'pg';
import { type Endpoint, type EndpointKey, findEndpoint } from '../db/endpoints.js';
import { callEndpoint, type EndpointAccess } from './tasks/endpoint-call.js';
import { EndpointUnavailable } from './tasks/task.js';

const TEST_TIMEOUT_MS = 10_000;
/** Tests in progress at a time, on a replica: an endpoint that does not answer holds one for as long as it may. */
const MAX_TESTS = 50;
const MAX_TESTS_PER_ORGANISATION = 5;
const MAX_ANSWER_BYTES = 65_536;
/** To one origin. Each order may take as long as its run. */
const MAX_CONNECTIONS = 256;

/** The context that binds sealed secrets to their endpoint. */
export const endpointContext = (id: string): string => `endpoint:${id}`;

export interface EndpointTest {
  readonly isOk: boolean;
  /** Null when it did not answer. */
  readonly status: number | null;
  readonly message: string;
}

/** Returns why orders would fail, judging by a response; undefined when they would not. */
function findFault(status: number): string | undefined {
  if (status === 401 || status === 403) return 'it does not accept the signature';
  if (status === 429) return 'it limits requests, so test it again later';
  if (status >= 500) return 'it has failed';
  return status >= 300 && status < 400 ? 'redirects are not followed' : undefined;
}

function describeAnswer(status: number): EndpointTest {
  const fault = findFault(status);
  return { isOk: fault === undefined, status, message: `It answered ${status}${fault ? `: ${fault}` : ''}` };
}

const tooManyTests = () =>
  tooManyRequests(1, 'Too many tests of endpoints are in progress: wait until they have ended');

/**
 * The endpoints that organisations have registered: their addresses are checked as those of other outgoing requests, and
 * their secrets are sealed.
 */
export function createOrganisationEndpoints(options: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly box: SecretBox;
  readonly allowedTargets: readonly Target[];
}) {
  const { pool, clock, box } = options;
  const limits = { maxAnswerBytes: MAX_ANSWER_BYTES, maxConnections: MAX_CONNECTIONS, timeoutMs: 0 };
  const tests = createPermits({ total: MAX_TESTS, perKey: MAX_TESTS_PER_ORGANISATION, isFair: true });
  const egress = createEgress(options.allowedTargets, limits, createHostResolver());

  function openSecrets({ id, secretsSealed }: Pick<Endpoint, 'id' | 'secretsSealed'>): string {
    return box.open(secretsSealed, endpointContext(id));
  }
  const getSecrets = (endpoint: Endpoint): Buffer[] => readWebhookKeys(openSecrets(endpoint), clock());

  /** A request is signed with the endpoint's current secrets, or with the secrets read last. */
  function toAccess(endpoint: Endpoint): EndpointAccess {
    let secrets = getSecrets(endpoint);
    const key = { orgId: endpoint.orgId, endpointId: endpoint.id };
    return {
      dispatcher: egress.agent,
      clock,
      async getSecrets() {
        const now = await findEndpoint(pool, key).catch(() => undefined);
        if (now) secrets = getSecrets(now);
        return secrets;
      },
    };
  }

  async function test(endpoint: Endpoint, requestId: string): Promise<EndpointTest> {
    const signal = AbortSignal.timeout(TEST_TIMEOUT_MS);
    try {
      const request = { method: 'GET', url: new URL(endpoint.url), requestId, signal } as const;
      return describeAnswer((await callEndpoint(toAccess(endpoint), request)).status);
    } catch (error) {
      if (error instanceof EndpointUnavailable && error.status !== undefined)
        return describeAnswer(error.status);
      const message = error instanceof Error ? error.message : 'It could not be asked';
      return { isOk: false, status: null, message };
    }
  }

  return {
    /** @throws TargetDenied for a URL that the operator does not allow, whatever its host resolves to. */
    assertUrl: egress.assertUrl,

    /** Returns a new secret, and it sealed with those that it replaces. @throws AppError 409 while too many of these sign. */
    createSecrets(
      id: string,
      replaced?: Endpoint,
    ): { readonly secret: string; readonly secretsSealed: string } {
      const { secret, secrets } = replaced
        ? replaceWebhookSecret(openSecrets(replaced), clock())
        : createWebhookSecrets();
      return { secret, secretsSealed: box.seal(secrets, endpointContext(id)) };
    },

    /** @returns undefined when the endpoint was removed. */
    async find(
      key: EndpointKey,
    ): Promise<{ readonly url: URL; readonly access: EndpointAccess } | undefined> {
      const endpoint = await findEndpoint(pool, key);
      return endpoint && { url: new URL(endpoint.url), access: toAccess(endpoint) };
    },

    /** Sends a signed `GET`, which asks for nothing. @throws AppError 429 while the organisation has others in progress. */
    test: (endpoint: Endpoint, requestId: string): Promise<EndpointTest> =>
      tests.run(endpoint.orgId, () => test(endpoint, requestId), tooManyTests),

    close: (): Promise<void> => egress.agent.close(),
  };
}

export type OrganisationEndpoints = ReturnType<typeof createOrganisationEndpoints>;
