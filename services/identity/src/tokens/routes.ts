import {
  getAccount,
  getMember,
  requireMember,
  requireScopes,
  requireSession,
  withDemand,
} from '@platform/auth';
import { type App, errorResponses, Pagination } from '@platform/service-kit';
import type { FastifyReply, onRequestHookHandler } from 'fastify';
import { Type } from 'typebox';
import { requireTokenAdmin } from '../base/authority.js';
import { type AccountCaller, getAccountCaller, getCaller } from '../base/caller/actor.js';
import type { TokenContext } from './context.js';
import { createOwnToken, listGrantableScopes, listOwnBoundChoices } from './create.js';
import { editToken, getToken } from './edit.js';
import {
  sessionRequiredOutsideFamily,
  sessionRequiredToRotate,
  tokenAlreadyRotated,
  tokenRequired,
  tooManyPredecessors,
  tooManyTokens,
} from './errors.js';
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
 * Registers the own tokens of members; a token requires `pat:read` or `pat:write`. An administrator with a session also sees, edits
 * and rotates those of service accounts here.
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
        description:
          'Nobody grants what they do not have. A token that creates another one is its parent, and revoking it revokes both. What a token may do never changes afterwards. Without an `Idempotency-Key`, a repeated request creates another token.',
        body: CreateTokenBody,
        response: {
          201: CreatedToken,
          ...errorResponses(
            400,
            401,
            403,
            409,
            tooManyTokens('There are 10,000 active tokens'),
            tokenAlreadyRotated(),
          ),
        },
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
        description:
          'Without a query it returns at most the 100 newest active tokens. A search reads at most 2,000 tokens in a request, so a page can be short, and `nextCursor` continues. Values of tokens are never shown.',
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
        description: 'Also one that has expired or was revoked, with when and why.',
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
        description:
          'Scopes, expiry and bounds never change: rotate the token instead. A token edits only itself and its descendants.',
        params: TokenPath,
        body: EditTokenBody,
        response: { 200: TokenAnswer, ...errorResponses(400, 401, 403, 404, sessionRequiredOutsideFamily()) },
      },
    },
    async (request) => {
      const caller = getCaller(request);
      const { tokenId } = request.params;
      const owner = await findManagedOwner(ctx, caller, tokenId);
      return { token: await editToken(ctx, caller, owner, tokenId, request.body) };
    },
  );
}

/** Registers the rotation and the revocation of the own tokens; a token requires `pat:write`. */
export function ownTokenEndRoutes(app: App, ctx: TokenContext): void {
  const write = [app.authenticate, requireMember, requireScopes(['pat:write'])];
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
        description:
          'The old token works until its grace ends (`graceSeconds`; 0 ends it at once). Of two concurrent rotations one is 409 `ALREADY_ROTATED`. A rotation that narrows scopes or addresses revokes what the old token has created.',
        params: TokenPath,
        body: RotateBody,
        response: {
          201: RotatedToken,
          ...errorResponses(
            400,
            401,
            403,
            404,
            409,
            tokenAlreadyRotated(),
            tooManyPredecessors(10),
            sessionRequiredToRotate(),
          ),
        },
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
        description:
          'Every service refuses it from the answer on. The tokens that it created end too, unless a session sends `keepDescendants: true`. An unknown, foreign or revoked token is the same 404.',
        params: TokenPath,
        body: RevokeBody,
        response: { 200: Revoked, ...errorResponses(400, 401, 403, 404, sessionRequiredOutsideFamily()) },
      },
    },
    async (request) => {
      const caller = getCaller(request);
      const { tokenId } = request.params;
      return toRevoked(await revokeToken(ctx, caller, caller.userId, tokenId, request.body ?? undefined));
    },
  );
}

/** Registers what a member can give a new token. */
export function grantableRoutes(app: App, ctx: TokenContext): void {
  app.get(
    `${base}/scopes`,
    {
      // Without a scope: a token learns what it can grant itself.
      onRequest: [app.authenticate, requireMember],
      schema: {
        operationId: 'listGrantableScopes',
        tags,
        summary: 'The scopes that this caller can grant, by category',
        description: "Scopes that need a role, or that the organisation's policy denies, are left out.",
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
        description: 'They are the servers, tools and connectors that `bounds` of a new token can name.',
        response: { 200: BoundChoices, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({ bounds: await listOwnBoundChoices(ctx, getMember(request)) }),
  );
}

/** Requires a personal access token. */
const requireToken: onRequestHookHandler = withDemand<onRequestHookHandler>(
  (request, _reply, done) => {
    if (getAccount(request).kind !== 'pat') throw tokenRequired();
    done();
  },
  { kinds: ['token'], errors: [tokenRequired()] },
);

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
        description: 'Works whatever the scopes of the token are.',
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
        description:
          'The calling token works until its grace ends. Store the new value before: the old one cannot rotate a second time (409 `ALREADY_ROTATED`).',
        body: RotateBody,
        response: {
          201: RotatedToken,
          ...errorResponses(400, 401, 403, 404, 409, tokenAlreadyRotated(), tooManyPredecessors(10)),
        },
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
        description:
          'Works whatever the scopes of the token are. The token that asks is refused from the answer on.',
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
        description:
          'Pages by number, or by `cursor`. Filters find expired and revoked tokens, and those of one owner. Values of tokens are never shown.',
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
        description:
          'Every service refuses it from the answer on, and its owner is notified. Its descendants end too, unless `keepDescendants` is true.',
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
