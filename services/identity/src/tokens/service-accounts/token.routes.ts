import { getMember, requireSession } from '@platform/auth';
import { type App, bearer, errorResponses } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { type Caller, getCaller } from '../../base/caller/actor.js';
import type { TokenContext } from '../context.js';
import { editToken, getToken } from '../edit.js';
import { listTokensOf } from '../list.js';
import { revokeToken } from '../revoke.js';
import { rotateToken } from '../rotate.js';
import { createdMessage, rotatedMessage, sendSecret } from '../routes.js';
import {
  CreatedToken,
  EditedToken,
  EditTokenBody,
  GrantableScopes,
  RevokeBody,
  Revoked,
  RotateBody,
  RotatedToken,
  Token,
  TokenAnswer,
  toRevoked,
} from '../schemas.js';
import type { TokenOwner } from '../token.js';
import { AccountPath, AccountTokenPath, CreateAccountTokenBody } from './schemas.js';
import type { ServiceAccounts } from './service.js';
import { createAccountToken, listAccountScopes } from './tokens.js';

const base = '/api/v1/service-accounts/:accountId/tokens';
const tags = ['Service accounts'];

/** For administrators, with a session: the personal access tokens that act as a service account. [OAUTH-10] */
export function accountTokenRoutes(
  app: App,
  ctx: TokenContext,
  accounts: Pick<ServiceAccounts, 'get'>,
): void {
  /** @throws AppError 404. */
  async function findOwner(caller: Pick<Caller, 'orgId'>, accountId: string): Promise<TokenOwner> {
    const { id } = await accounts.get(caller, accountId);
    return { id, isServiceAccount: true };
  }

  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    base,
    {
      onRequest,
      schema: {
        operationId: 'listServiceAccountTokens',
        tags,
        summary: 'The active tokens of a service account, at most the 100 newest',
        security: bearer,
        params: AccountPath,
        response: {
          200: Type.Object({ tokens: Type.Array(Token) }),
          ...errorResponses(400, 401, 403, 404),
        },
      },
    },
    async (request) => ({
      tokens: await listTokensOf(ctx, await findOwner(getMember(request), request.params.accountId)),
    }),
  );
  app.get(
    `${base}/scopes`,
    {
      onRequest,
      schema: {
        operationId: 'listServiceAccountScopes',
        tags,
        summary: 'The scopes that a token of a service account can have, by category',
        security: bearer,
        params: AccountPath,
        response: { 200: GrantableScopes, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const principal = getMember(request);
      const account = await accounts.get(principal, request.params.accountId);
      return { scopes: await listAccountScopes(ctx, principal, account) };
    },
  );
  app.post(
    base,
    {
      onRequest,
      schema: {
        operationId: 'createServiceAccountToken',
        tags,
        summary: 'Create a token that acts as a service account; its value is shown once',
        security: bearer,
        params: AccountPath,
        body: CreateAccountTokenBody,
        response: { 201: CreatedToken, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request, reply) => {
      const caller = getCaller(request);
      const account = await accounts.get(caller, request.params.accountId);
      const token = await createAccountToken(ctx, caller, account, request.body);
      return sendSecret(reply, { message: createdMessage, token });
    },
  );
  app.get(
    `${base}/:tokenId`,
    {
      onRequest,
      schema: {
        operationId: 'getServiceAccountToken',
        tags,
        summary: 'A token of a service account in any state',
        security: bearer,
        params: AccountTokenPath,
        response: { 200: TokenAnswer, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const { accountId, tokenId } = request.params;
      return { token: await getToken(ctx, await findOwner(getMember(request), accountId), tokenId) };
    },
  );
  app.patch(
    `${base}/:tokenId`,
    {
      onRequest,
      schema: {
        operationId: 'editServiceAccountToken',
        tags,
        summary: 'Change an active token of a service account, never so that it grants more',
        security: bearer,
        params: AccountTokenPath,
        body: EditTokenBody,
        response: { 200: EditedToken, ...errorResponses(400, 401, 403, 404, 409) },
      },
    },
    async (request) => {
      const { accountId, tokenId } = request.params;
      const caller = getCaller(request);
      return editToken(ctx, caller, await findOwner(caller, accountId), tokenId, request.body);
    },
  );
  app.post(
    `${base}/:tokenId/rotate`,
    {
      onRequest,
      schema: {
        operationId: 'rotateServiceAccountToken',
        tags,
        summary: 'Replace a token of a service account by a new one, whose value is shown once',
        security: bearer,
        params: AccountTokenPath,
        body: RotateBody,
        response: { 201: RotatedToken, ...errorResponses(400, 401, 403, 404, 409) },
      },
    },
    async (request, reply) => {
      const { accountId, tokenId } = request.params;
      const caller = getCaller(request);
      const owner = await findOwner(caller, accountId);
      const rotated = await rotateToken(ctx, caller, owner, tokenId, request.body ?? undefined);
      return sendSecret(reply, { message: rotatedMessage, ...rotated });
    },
  );
  app.delete(
    `${base}/:tokenId`,
    {
      onRequest,
      schema: {
        operationId: 'revokeServiceAccountToken',
        tags,
        summary: 'Revoke a token of a service account, at once and for good',
        security: bearer,
        params: AccountTokenPath,
        body: RevokeBody,
        response: { 200: Revoked, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const { accountId, tokenId } = request.params;
      const caller = getCaller(request);
      const { id } = await findOwner(caller, accountId);
      return toRevoked(await revokeToken(ctx, caller, id, tokenId, request.body ?? undefined));
    },
  );
}
