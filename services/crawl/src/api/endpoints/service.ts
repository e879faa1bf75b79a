import { parseHttpUrl, TargetDenied } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Actor } from '../../domain/act.js';
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
import type { ApiContext } from '../context.js';
import { endpointInUse, endpointNotFound, tooManyEndpoints, urlRefused } from './errors.js';
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

/** @throws AppError 400 for a URL that cannot be called. */
function readUrl({ endpoints }: ApiContext, text: string): string {
  const url = parseHttpUrl(text);
  if (!url)
    throw urlRefused(
      'must be a URL that starts with https:// or http://, without user name, password and fragment',
    );
  try {
    endpoints.assertUrl(url);
  } catch (error) {
    if (!(error instanceof TargetDenied)) throw error;
    throw urlRefused('is not allowed by the operator: use https and a public address');
  }
  return url.href;
}

export const listEndpointsOf = async ({ pool }: ApiContext, orgId: string): Promise<EndpointItem[]> =>
  (await listEndpoints(pool, orgId)).map(toItem);

/** @throws AppError 400 for the URL; 409 when there are too many. */
export async function createEndpoint(
  ctx: ApiContext,
  orgId: string,
  given: { readonly url: string; readonly description?: string },
  actor: Actor,
): Promise<EndpointWithSecret> {
  const { endpoints, clock, pool } = ctx;
  const { description = '' } = given;
  const url = readUrl(ctx, given.url);
  const id = uuidv7();
  const { secret, secretsSealed } = endpoints.createSecrets(id);
  const createdAt = new Date(clock());
  const made = { id, orgId, url, description, secretsSealed, createdBy: actor.actorId, createdAt };
  const act = { actor, at: createdAt, detail: { description } };
  if (!(await insertEndpoint(pool, made, MAX_ENDPOINTS, act))) throw tooManyEndpoints(MAX_ENDPOINTS);
  return { ...toItem({ ...made, rotatedAt: null, connectors: [] }), secret };
}

/** Replaces the secret. @throws AppError 404; 409 while too many of its secrets sign. */
export async function rotateEndpoint(
  { pool, clock, endpoints }: ApiContext,
  key: EndpointKey,
  actor: Actor,
): Promise<EndpointWithSecret> {
  let secret = '';
  const rotated = await rotateSecrets(pool, key, { actor, at: new Date(clock()) }, (endpoint) => {
    const made = endpoints.createSecrets(endpoint.id, endpoint);
    ({ secret } = made);
    return made.secretsSealed;
  });
  if (!rotated) throw endpointNotFound();
  return { ...toItem(rotated), secret };
}

/** @throws AppError 404. */
export async function testEndpoint(
  { pool, endpoints }: ApiContext,
  key: EndpointKey,
  requestId: string,
): Promise<TestResult> {
  const endpoint = await findEndpoint(pool, key);
  if (!endpoint) throw endpointNotFound();
  return endpoints.test(endpoint, requestId);
}

/** @throws AppError 404; 409 while a schedule uses it. */
export async function removeEndpoint(
  { clock, pool }: ApiContext,
  key: EndpointKey,
  actor: Actor,
): Promise<void> {
  const act = { actor, at: new Date(clock()) };
  const isDeleted = await deleteEndpoint(pool, key, act).catch((error: unknown) => {
    throw isEndpointViolation(error) ? endpointInUse() : error;
  });
  if (!isDeleted) throw endpointNotFound();
}
