import { getAccount, getMember, requireMember, requireScopes, requireSession } from '@platform/auth';
import { type App, errorResponses, Pagination } from '@platform/service-kit';
import type { FastifyReply, onRequestHookHandler } from 'fastify';
import { Type } from 'typebox';
import { requireTokenAdmin } from '../base/authority.js';
import { type AccountCaller, getAccountCaller, getCaller } from '../base/caller/actor.js';
import type { TokenContext } from './context.js';
import { createOwnToken, listGrantableScopes, listOwnBoundChoices } from './create.js';
import { editToken, getToken } from './edit.js';
import { tokenRequired } from './errors.js';
import { findOrganisationTokens, findOwnTokens, listOrganisationTokens } from './list.js';
import { revokeToken } from './revoke.js';
import { rotateToken } from './rotate.js';
import {
  BoundChoices,
  CreatedToken,
  CreateTokenBody,
  EditTokenBody,
  GrantableScopes,
  NextCursor,
  OrgTokenQuery,
  OwnedToken,
  OwnTokenQuery,
  RevokeBody,
  Revoked,
  RotateBody,
  RotatedToken,
  TokenAnswer,
  TokenDetails,
  TokenPath,
  toRevoked,
} from './schemas.js';
import { findManagedOwner, type TokenOwner } from './token.js';
import { always } from '../base/confirmation.js';

const base = '/api/v1/personal-access-tokens';
const tags = ['Personal access tokens'];
const DEFAULT_LIMIT = 20;
/** The own list without a query contains at most the 100 newest tokens (PAT-6). */
const MAX_OWN_LIST = 100;

const toOwner = ({
  userId: id,
  isServiceAccount = false,
}: Pick<AccountCaller, 'userId' | 'isServiceAccount'>): TokenOwner => ({
  id,
  isServiceAccount,
});

/** Sends what was created, with the value that is shown once. */
export const sendSecret = <T>(reply: FastifyReply, body: T): T => {
  void reply.code(201);
  return body;
};

export const createdMessage = 'Token created. Copy it now: it is not shown again.';
const rotatedMessage = 'Token rotated. Copy the new one now: it is not shown again.';

/**
 * Registers what members do with their own tokens; a token requires `pat:read` or `pat:write`. An administrator with a session
 * also sees, edits and rotates those of service accounts here.
 */
export function ownTokenRoutes(app: App, ctx: TokenContext): void {
  const read = [app.authenticate, requireMember, requireScopes(['pat:read'])];
  const write = [app.authenticate, requireMember, requireScopes(['pat:write'])];
  app.post(
    base,
    {
      onRequest: write,
      config: { isIdempotent: true, needsConfirmation: always },
      schema: {
        operationId: 'createToken',
        tags,
        summary: 'Create a token; its value is shown once',
        body: CreateTokenBody,
        response: { 201: CreatedToken, ...errorResponses(400, 401, 403, 409) },
      },
    },
    async (request, reply) => {
      const token = await createOwnToken(ctx, getCaller(request), request.body);
      return sendSecret(reply, { message: createdMessage, token });
    },
  );
  app.get(
    base,
    {
      onRequest: read,
      schema: {
        operationId: 'listOwnTokens',
        tags,
        summary:
          'The own active tokens, at most the 100 newest; with a filter, a limit or a cursor a page of a search',
        querystring: OwnTokenQuery,
        response: {
          200: Type.Object({
            tokens: Type.Array(TokenDetails),
            pagination: Type.Optional(Pagination),
            nextCursor: NextCursor,
          }),
          ...errorResponses(400, 401, 403),
        },
      },
    },
    async (request) => {
      const { query } = request;
      const member = getMember(request);
      if (Object.keys(query).length === 0)
        return { tokens: (await findOwnTokens(ctx, member, { limit: MAX_OWN_LIST }, 'none')).items };
      const { items: tokens, ...found } = await findOwnTokens(ctx, member, query);
      return { tokens, ...found };
    },
  );
  app.get(
    `${base}/:tokenId`,
    {
      onRequest: read,
      schema: {
        operationId: 'getOwnToken',
        tags,
        summary: 'An own token in any state',
        params: TokenPath,
        response: { 200: TokenAnswer, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const { tokenId } = request.params;
      const owner = await findManagedOwner(ctx, getMember(request), tokenId);
      return { token: await getToken(ctx, owner, tokenId) };
    },
  );
  app.patch(
    `${base}/:tokenId`,
    {
      onRequest: write,
      schema: {
        operationId: 'editOwnToken',
        tags,
        summary: 'Rename an own active token, describe it or mute its notices',
        params: TokenPath,
        body: EditTokenBody,
        response: { 200: TokenAnswer, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const caller = getCaller(request);
      const { tokenId } = request.params;
      const owner = await findManagedOwner(ctx, caller, tokenId);
      return { token: await editToken(ctx, caller, owner, tokenId, request.body) };
    },
  );
  app.post(
    `${base}/:tokenId/rotate`,
    {
      onRequest: write,
      config: { isIdempotent: true, needsConfirmation: always },
      schema: {
        operationId: 'rotateToken',
        tags,
        summary:
          'Replace an own token by a new one, with fewer scopes or addresses if need be; its value is shown once',
        params: TokenPath,
        body: RotateBody,
        response: { 201: RotatedToken, ...errorResponses(400, 401, 403, 404, 409) },
      },
    },
    async (request, reply) => {
      const caller = getCaller(request);
      const { tokenId } = request.params;
      const owner = await findManagedOwner(ctx, caller, tokenId);
      const rotated = await rotateToken(ctx, caller, owner, tokenId, request.body ?? undefined);
      return sendSecret(reply, { message: rotatedMessage, ...rotated });
    },
  );
  app.delete(
    `${base}/:tokenId`,
    {
      onRequest: write,
      schema: {
        operationId: 'revokeOwnToken',
        tags,
        summary: 'Revoke an own token and its descendants, at once and for good',
        params: TokenPath,
        body: RevokeBody,
        response: { 200: Revoked, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const caller = getCaller(request);
      const { tokenId } = request.params;
      return toRevoked(await revokeToken(ctx, caller, caller.userId, tokenId, request.body ?? undefined));
    },
  );
  app.get(
    `${base}/scopes`,
    {
      // Without a scope: a token learns what it can grant itself.
      onRequest: [app.authenticate, requireMember],
      schema: {
        operationId: 'listGrantableScopes',
        tags,
        summary: 'The scopes that this caller can grant, by category',
        response: { 200: GrantableScopes, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({ scopes: await listGrantableScopes(ctx, getMember(request)) }),
  );
  app.get(
    `${base}/bounds`,
    {
      onRequest: [app.authenticate, requireMember],
      schema: {
        operationId: 'listBounds',
        tags,
        summary: 'What this caller can limit a token to, by name',
        response: { 200: BoundChoices, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({ bounds: await listOwnBoundChoices(ctx, getMember(request)) }),
  );
}

/** Requires a personal access token. */
const requireToken: onRequestHookHandler = (request, _reply, done) => {
  if (getAccount(request).kind !== 'pat') throw tokenRequired();
  done();
};

/**
 * Registers what a token can do with itself, also one of a service account: see and revoke itself, whatever its scopes, and
 * rotate with `pat:write`.
 */
export function ownCredentialRoutes(app: App, ctx: TokenContext): void {
  const onRequest = [app.authenticate, requireToken];
  app.get(
    `${base}/self`,
    {
      onRequest,
      schema: {
        operationId: 'getOwnCredential',
        tags,
        summary: 'The calling token',
        response: { 200: TokenAnswer, ...errorResponses(401, 403, 404) },
      },
    },
    async (request) => {
      const principal = getAccount(request);
      return {
        token: await getToken(ctx, toOwner(principal), principal.credentialId),
      };
    },
  );
  app.post(
    `${base}/self/rotate`,
    {
      onRequest: [app.authenticate, requireToken, requireScopes(['pat:write'])],
      config: { isIdempotent: true },
      schema: {
        operationId: 'rotateOwnCredential',
        tags,
        summary: 'Replace the calling token by a new one, whose value is shown once',
        body: RotateBody,
        response: { 201: RotatedToken, ...errorResponses(400, 401, 403, 404, 409) },
      },
    },
    async (request, reply) => {
      const caller = getCaller(request);
      const { credentialId } = caller;
      const rotated = await rotateToken(
        ctx,
        caller,
        toOwner(caller),
        credentialId,
        request.body ?? undefined,
      );
      return sendSecret(reply, { message: rotatedMessage, ...rotated });
    },
  );
  app.delete(
    `${base}/self`,
    {
      onRequest,
      schema: {
        operationId: 'revokeOwnCredential',
        tags,
        summary: 'Revoke the calling token and its descendants, at once and for good',
        body: RevokeBody,
        response: { 200: Revoked, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const caller = getAccountCaller(request);
      const { userId, credentialId } = caller;
      return toRevoked(await revokeToken(ctx, caller, userId, credentialId, request.body ?? undefined));
    },
  );
}

/** Registers what administrators do, with a session. It is checked first, so that every token gets the same 403. */
export function adminTokenRoutes(app: App, ctx: TokenContext): void {
  const onRequest = [app.authenticate, requireSession, requireTokenAdmin];
  app.get(
    `${base}/admin`,
    {
      onRequest,
      schema: {
        operationId: 'listOrganisationTokens',
        tags,
        summary:
          "The organisation's active tokens, removed owners' included; with a filter or a cursor a page of a search",
        querystring: OrgTokenQuery,
        response: {
          200: Type.Object({
            data: Type.Array(OwnedToken),
            pagination: Type.Optional(Pagination),
            nextCursor: NextCursor,
          }),
          ...errorResponses(400, 401, 403),
        },
      },
    },
    async (request) => {
      const { page = 1, limit = DEFAULT_LIMIT, ...filters } = request.query;
      const principal = getMember(request);
      if (Object.keys(filters).length === 0) return listOrganisationTokens(ctx, principal, { page, limit });
      const { items: data, ...found } = await findOrganisationTokens(ctx, principal, request.query);
      return { data, ...found };
    },
  );
  app.delete(
    `${base}/admin/:tokenId`,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'revokeOrganisationToken',
        tags,
        summary: "Revoke anyone's token and its descendants, at once and for good",
        params: TokenPath,
        body: RevokeBody,
        response: { 200: Revoked, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const caller = getCaller(request);
      const { tokenId } = request.params;
      return toRevoked(await revokeToken(ctx, caller, undefined, tokenId, request.body ?? undefined));
    },
  );
}
