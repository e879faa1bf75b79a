import type { AccountPrincipal } from '@platform/auth';
import { type Clock, type Logger, TargetDenied } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import {
  deleteEndpoint,
  type Endpoint,
  type EndpointKey,
  findEndpoint,
  insertEndpoint,
  isEndpointViolation,
  listEndpoints,
  rotateSecrets,
} from '../../db/endpoints.js';
import {
  endpointInUse,
  endpointNotFound,
  endpointsDisabled,
  tooManyEndpoints,
  urlRefused,
} from './errors.js';
import type { EndpointItem, EndpointWithSecret, TestResult } from './schemas.js';

const MAX_ENDPOINTS = 50;

const toItem = (endpoint: Endpoint): EndpointItem => ({
  endpointId: endpoint.id,
  url: endpoint.url,
  description: endpoint.description,
  createdBy: endpoint.createdBy,
  createdAt: endpoint.createdAt.toISOString(),
  rotatedAt: endpoint.rotatedAt?.toISOString() ?? null,
  connectors: [...endpoint.connectors],
});

export function createEndpointService(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info'>;
  readonly endpoints: {
    readonly isEnabled: boolean;
    readonly assertUrl: (url: URL) => void;
    readonly createSecrets: (
      id: string,
      replaced?: Endpoint,
    ) => { readonly secret: string; readonly secretsSealed: string };
    readonly test: (endpoint: Endpoint, requestId: string) => Promise<TestResult>;
  };
}) {
  const { pool, clock, log, endpoints } = deps;

  /** @throws AppError 400 for a URL that cannot be called. */
  function readUrl(text: string): string {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
      throw urlRefused('must be a URL that starts with https:// or http://');
    if (url.username !== '' || url.password !== '' || url.hash !== '')
      throw urlRefused('must have no user name, password or fragment');
    try {
      endpoints.assertUrl(url);
    } catch (error) {
      if (!(error instanceof TargetDenied)) throw error;
      throw urlRefused('is not allowed by the operator: use https and a public address');
    }
    return url.href;
  }

  return {
    list: async (orgId: string): Promise<EndpointItem[]> => (await listEndpoints(pool, orgId)).map(toItem),

    /** @throws AppError 400 for the URL; 409 when there are too many, or without keys. */
    async create(
      { orgId, userId }: AccountPrincipal,
      given: { readonly url: string; readonly description?: string },
    ): Promise<EndpointWithSecret> {
      if (!endpoints.isEnabled) throw endpointsDisabled();
      const { description = '' } = given;
      const url = readUrl(given.url);
      const id = uuidv7();
      const { secret, secretsSealed } = endpoints.createSecrets(id);
      const createdAt = new Date(clock());
      const made = { id, orgId, url, description, secretsSealed, createdBy: userId, createdAt };
      if (!(await insertEndpoint(pool, made, MAX_ENDPOINTS))) throw tooManyEndpoints(MAX_ENDPOINTS);
      log.info({ orgId, userId, endpointId: id }, 'an endpoint was registered');
      return { ...toItem({ ...made, rotatedAt: null, connectors: [] }), secret };
    },

    /** Replaces the secret. @throws AppError 404; 409 without keys. */
    async rotate(key: EndpointKey, userId: string): Promise<EndpointWithSecret> {
      if (!endpoints.isEnabled) throw endpointsDisabled();
      let secret = '';
      const rotated = await rotateSecrets(pool, key, new Date(clock()), (endpoint) => {
        const made = endpoints.createSecrets(endpoint.id, endpoint);
        ({ secret } = made);
        return made.secretsSealed;
      });
      if (!rotated) throw endpointNotFound();
      log.info({ ...key, userId }, 'the secret of an endpoint was rotated');
      return { ...toItem(rotated), secret };
    },

    /** @throws AppError 404. */
    async test(key: EndpointKey, requestId: string): Promise<TestResult> {
      const endpoint = await findEndpoint(pool, key);
      if (!endpoint) throw endpointNotFound();
      return endpoints.test(endpoint, requestId);
    },

    /** @throws AppError 404; 409 while a schedule uses it. */
    async remove(key: EndpointKey, userId: string): Promise<void> {
      const isDeleted = await deleteEndpoint(pool, key).catch((error: unknown) => {
        throw isEndpointViolation(error) ? endpointInUse() : error;
      });
      if (!isDeleted) throw endpointNotFound();
      log.info({ ...key, userId }, 'an endpoint was removed');
    },
  };
}

export type EndpointService = ReturnType<typeof createEndpointService>;
