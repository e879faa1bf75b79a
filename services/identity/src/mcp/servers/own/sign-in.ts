import { randomBytes } from 'node:crypto';
import { toDigest } from '@platform/auth';
import type { CountRequest, Logger } from '@platform/service-kit';
import type { FetchLike } from '@modelcontextprotocol/client';
import type { Caller } from '../../../base/caller/actor.js';
import { findServer, type ServerRow } from '../queries.js';
import { ownSecretContext, serverSecretContext, signInContext } from '../upstream/credentials.js';
import { describeFault } from '../upstream/oauth/fetch.js';
import { type Flow, parseGrant } from '../upstream/oauth/grant.js';
import type { ClientIdentity } from '../upstream/oauth/protocol.js';
import type { Revocations } from '../upstream/oauth/revocations.job.js';
import { serviceNotFound, signInFailed } from './errors.js';
import {
  consumeSignIn,
  endOpenSignIns,
  findOwnServers,
  findSealedOf,
  forgetClient,
  insertSignIn,
  storeClient,
} from './queries.js';
import type { ServerContext } from '../service.js';
import { storeSignedInCredential } from './service.js';

/*
 * A member signs in at a server:
 *
 *   begun      the flow is stored sealed, for this session alone, and the browser goes to the authorization server; another
 *              one of the account at the server ends it
 *   returned   the flow is used up by the first answer with its state, and the code is exchanged
 *   connected  the tokens are stored, unless the server is reached in another way by now
 */

/** The path to which authorization servers send browsers back: exactly this one. */
export const UPSTREAM_CALLBACK_PATH = '/oauth2/upstream/callback';
/** The document by which authorization servers know the platform (client id metadata documents). */
export const CLIENT_DOCUMENT_PATH = '/oauth2/upstream/client.json';
const LIFETIME_MS = 10 * 60_000;
/** More than any sign-in needs; a server can describe itself at length. */
const MAX_FLOW_BYTES = 64 * 1_024;

const loadProtocol = () => import('../upstream/oauth/protocol.js');

/** How a sign-in ended: the console says it in words. */
export type SignInOutcome = 'connected' | 'refused' | 'failed' | 'expired';

export function createClientIdentity(publicUrl: string): ClientIdentity {
  const redirectUrl = publicUrl + UPSTREAM_CALLBACK_PATH;
  return {
    redirectUrl,
    metadata: {
      client_name: 'Workspace knowledge platform',
      client_uri: publicUrl,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    metadataUrl: publicUrl.startsWith('https:') ? publicUrl + CLIENT_DOCUMENT_PATH : undefined,
  };
}

export interface UpstreamSignInContext extends ServerContext {
  readonly countSignIn: CountRequest;
  readonly fetchFn: FetchLike;
  readonly identity: ClientIdentity;
  readonly revocations: Revocations;
  readonly log: Logger;
}

const readClient = (
  { box }: UpstreamSignInContext,
  { id, secretSealed }: ServerRow,
): Flow['client'] | undefined =>
  secretSealed === null
    ? undefined
    : (JSON.parse(box.open(secretSealed, serverSecretContext(id))) as Flow['client']);

/** Reports a fault without what the authorization server said: that may contain codes and tokens. */
const report = ({ log }: UpstreamSignInContext, error: unknown, mcpServer: string, message: string): void =>
  log.info({ ...describeFault(error), mcpServer }, message);

/** Finds the scopes that the account has, and those that the server has missed. */
async function findScopes({ prisma, box }: UpstreamSignInContext, serverId: string, accountId: string) {
  const stored = await findSealedOf(prisma, serverId, accountId);
  if (!stored) return [];
  const { tokens } = parseGrant(box.open(stored.secretSealed, ownSecretContext(serverId, accountId)));
  return [tokens.scope, stored.scopeWanted];
}

/**
 * Begins a sign-in of the caller.
 *
 * @returns the page of the authorization server.
 * @throws AppError 404; 429; 502 SIGN_IN_FAILED.
 */
export async function beginSignIn(
  ctx: UpstreamSignInContext,
  { orgId, userId: accountId, credentialId: sessionId }: Caller,
  id: string,
): Promise<string> {
  const [own] = await findOwnServers(ctx.prisma, { orgId, accountId, id });
  const server = own && (await findServer(ctx.prisma, orgId, id));
  if (server?.credential !== 'oauth') throw serviceNotFound();
  ctx.countSignIn(accountId);
  const { begin } = await loadProtocol();
  const state = randomBytes(32).toString('base64url');
  // A browser that has not come back may have been told that the authorization server no longer knows the client.
  const isAbandoned = await endOpenSignIns(ctx.prisma, { serverId: id, accountId });
  const client = isAbandoned && server.clientId === null ? undefined : readClient(ctx, server);
  const scopes = [server.clientScope, ...(await findScopes(ctx, id, accountId))];
  const signIn = { identity: ctx.identity, serverUrl: server.url, fetchFn: ctx.fetchFn };
  const { url, flow } = await begin(signIn, { state, client, scopes }).catch((error: unknown) => {
    report(ctx, error, id, 'failed to begin a sign-in at an MCP server');
    throw signInFailed();
  });
  const json = JSON.stringify(flow);
  if (json.length > MAX_FLOW_BYTES) throw signInFailed();
  const stateHash = toDigest(state);
  await insertSignIn(ctx.prisma, {
    stateHash,
    serverId: id,
    orgId,
    accountId,
    sessionId,
    revision: server.revision,
    flowSealed: ctx.box.seal(json, signInContext(stateHash)),
    expiresAt: new Date(ctx.clock() + LIFETIME_MS),
  });
  // Kept with the issuer that it belongs to, so that it is shown to no other one.
  const registered = JSON.stringify(flow.client);
  if (JSON.stringify(client) !== registered)
    await storeClient(ctx.prisma, server, ctx.box.seal(registered, serverSecretContext(id)));
  return url.href;
}

/**
 * Completes a sign-in with what the browser brings back.
 *
 * @returns how it ended, and the server; without one when nothing of it is known to this session.
 */
export async function completeSignIn(
  ctx: UpstreamSignInContext,
  caller: Caller,
  { state = '', code, iss }: { readonly state?: string; readonly code?: string; readonly iss?: string },
): Promise<{ readonly outcome: SignInOutcome; readonly serverId?: string }> {
  const { orgId, userId: accountId, credentialId: sessionId } = caller;
  const stateHash = toDigest(state);
  const now = ctx.clock();
  const found = await consumeSignIn(ctx.prisma, { stateHash, orgId, accountId, sessionId }, new Date(now));
  if (!found) return { outcome: 'expired' };
  const { serverId, revision } = found;
  const server = await findServer(ctx.prisma, orgId, serverId);
  if (server?.revision !== revision) return { outcome: 'failed', serverId };
  if (code === undefined) return { outcome: 'refused', serverId };
  const flow = JSON.parse(ctx.box.open(found.flowSealed, signInContext(stateHash))) as Flow;
  const { complete, isClientUnknown } = await loadProtocol();
  try {
    const grant = await complete({ identity: ctx.identity, fetchFn: ctx.fetchFn }, flow, { code, iss, now });
    const isStored = await storeSignedInCredential(ctx, caller, server, JSON.stringify(grant));
    if (!isStored) await ctx.revocations.add({ serverId, accountId }, grant);
    return { outcome: isStored ? 'connected' : 'failed', serverId };
  } catch (error) {
    report(ctx, error, serverId, 'failed to complete a sign-in at an MCP server');
    if (isClientUnknown(error)) await forgetClient(ctx.prisma, server);
    return { outcome: 'failed', serverId };
  }
}
