import { randomBytes } from 'node:crypto';
import {
  type Clock,
  createEgress,
  createHostResolver,
  createSecretBox,
  DAY_MS,
  type BoxKey,
  type Target,
} from '@platform/service-kit';
import type pg from 'pg';
import { type Endpoint, type EndpointKey, findEndpoint } from '../db/endpoints.js';
import { callEndpoint, type EndpointAccess } from './tasks/endpoint-call.js';
import { parseSecret } from './tasks/endpoint-config.js';
import { EndpointUnavailable } from './tasks/task.js';

/** After a rotation, requests have the signature of the secret before as well, for so long. */
const OVERLAP_MS = DAY_MS;
const TEST_TIMEOUT_MS = 10_000;
const SECRET_BYTES = 32;
const MAX_ANSWER_BYTES = 65_536;
/** To one origin. Each order may take as long as its run. */
const MAX_CONNECTIONS = 256;

const toContext = (id: string): string => `endpoint:${id}`;
const createSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

export interface EndpointTest {
  readonly isOk: boolean;
  /** Null when it did not answer. */
  readonly status: number | null;
  readonly message: string;
}

const describeAnswer = (status: number): EndpointTest => {
  if (status === 401 || status === 403)
    return { isOk: false, status, message: `It answered ${status}: it does not accept the signature` };
  if (status >= 500) return { isOk: false, status, message: `It answered ${status}` };
  return { isOk: true, status, message: `It answered ${status}` };
};

/**
 * The endpoints that organisations have registered: their addresses are judged as those of other outgoing requests, and
 * their secrets are sealed.
 */
export function createOrganisationEndpoints(options: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  /** Without keys, none can be registered. */
  readonly keys: readonly BoxKey[];
  readonly allowedTargets: readonly Target[];
}) {
  const { pool, clock, keys } = options;
  const box = keys.length === 0 ? undefined : createSecretBox(keys);
  const limits = { maxAnswerBytes: MAX_ANSWER_BYTES, maxConnections: MAX_CONNECTIONS, timeoutMs: 0 };
  const egress = createEgress(options.allowedTargets, limits, createHostResolver());

  function openSecrets({ id, secretsSealed }: Pick<Endpoint, 'id' | 'secretsSealed'>): string[] {
    if (!box) throw new Error('The operator has removed the keys that open the secrets of endpoints');
    return JSON.parse(box.open(secretsSealed, toContext(id))) as string[];
  }

  function toAccess(endpoint: Endpoint): EndpointAccess {
    const [current = '', before] = openSecrets(endpoint);
    const isOverlapping = endpoint.rotatedAt && clock() - endpoint.rotatedAt.getTime() < OVERLAP_MS;
    const used = isOverlapping && before !== undefined ? [current, before] : [current];
    return { dispatcher: egress.agent, secrets: used.flatMap((one) => parseSecret(one) ?? []), clock };
  }

  return {
    /** Whether endpoints can be registered. */
    isEnabled: box !== undefined,
    /** @throws TargetDenied for a URL that the operator does not allow, whatever its host resolves to. */
    assertUrl: egress.assertUrl,

    /** Returns a new secret, and it sealed with the one before. */
    createSecrets(
      id: string,
      replaced?: Endpoint,
    ): { readonly secret: string; readonly secretsSealed: string } {
      if (!box) throw new Error('Endpoints need keys');
      const secret = createSecret();
      const before = replaced ? openSecrets(replaced).slice(0, 1) : [];
      return { secret, secretsSealed: box.seal(JSON.stringify([secret, ...before]), toContext(id)) };
    },

    /** @returns undefined when the endpoint was removed. */
    async find(
      key: EndpointKey,
    ): Promise<{ readonly url: URL; readonly access: EndpointAccess } | undefined> {
      const endpoint = await findEndpoint(pool, key);
      return endpoint && { url: new URL(endpoint.url), access: toAccess(endpoint) };
    },

    /** Sends a signed `GET`, which asks for nothing. */
    async test(endpoint: Endpoint, requestId: string): Promise<EndpointTest> {
      const signal = AbortSignal.timeout(TEST_TIMEOUT_MS);
      try {
        const request = { method: 'GET', url: new URL(endpoint.url), requestId, signal } as const;
        return describeAnswer((await callEndpoint(toAccess(endpoint), request)).status);
      } catch (error) {
        const message = error instanceof Error ? error.message : 'It could not be asked';
        const status = error instanceof EndpointUnavailable ? (error.status ?? null) : null;
        return { isOk: false, status, message };
      }
    },

    close: (): Promise<void> => egress.agent.close(),
  };
}

export type OrganisationEndpoints = ReturnType<typeof createOrganisationEndpoints>;
