import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses, ListPageOf, Message, searchBy } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { always } from '../../base/confirmation.js';
import { listBoundChoices } from '../../credentials/bounds/bounds.js';
import type { TokenContext } from '../context.js';
import { createdMessage, sendSecret } from '../routes.js';
import { BoundChoices, CreatedToken, GrantableScopes } from '../schemas.js';
import {
  accountOfApplication,
  changeAccount,
  createAccount,
  createAccountToken,
  getAccountOf,
  listAccountScopes,
  listAccounts,
  removeAccount,
} from './accounts.js';
import {
  Account,
  AccountPath,
  ChangeAccountBody,
  CreateAccountBody,
  CreateAccountTokenBody,
} from './schemas.js';
import { tooManyTokens } from '../errors.js';

const base = '/api/v1/service-accounts';
const tags = ['Service accounts'];
const AccountAnswer = Type.Object({ serviceAccount: Account });

/** For administrators, with a session. [OAUTH-10] */
function accountRoutes(app: App, ctx: TokenContext): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    base,
    {
      onRequest,
      schema: {
        operationId: 'listServiceAccounts',
        tags,
        summary: 'The service accounts, newest first, those of applications included',
        description: 'Pages by number, or by `cursor`. `q` finds a part of a name.',
        querystring: searchBy('Part of the name, or of the client id of its application, in any case.'),
        response: { 200: ListPageOf(Account), ...errorResponses(400, 401, 403) },
      },
    },
    (request) => listAccounts(ctx, getMember(request), request.query),
  );
  app.post(
    base,
    {
      onRequest,
      config: { isIdempotent: true, needsConfirmation: always },
      schema: {
        operationId: 'createServiceAccount',
        tags,
        summary: 'Create a service account, which owns tokens and is not a person',
        description:
          'The account has no session and no password; `createServiceAccountToken` gives it a credential. Without an `Idempotency-Key`, a repeated request creates another account.',
        body: CreateAccountBody,
        response: { 201: AccountAnswer, ...errorResponses(400, 401, 403) },
      },
    },
    async (request, reply) =>
      reply.code(201).send({ serviceAccount: await createAccount(ctx, getCaller(request), request.body) }),
  );
  app.get(
    `${base}/:accountId`,
    {
      onRequest,
      schema: {
        operationId: 'getServiceAccount',
        tags,
        summary: 'A service account',
        description: 'Accounts of applications say which application they belong to.',
        params: AccountPath,
        response: { 200: AccountAnswer, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({
      serviceAccount: await getAccountOf(ctx, getMember(request), request.params.accountId),
    }),
  );
  app.patch(
    `${base}/:accountId`,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'changeServiceAccount',
        tags,
        summary: 'Rename a service account, or change its role; its tokens follow at once',
        description: 'An account of an application is changed with the application.',
        params: AccountPath,
        body: ChangeAccountBody,
        response: { 200: AccountAnswer, ...errorResponses(400, 401, 403, 404, 409, accountOfApplication()) },
      },
    },
    async (request) => ({
      serviceAccount: await changeAccount(ctx, getCaller(request), request.params.accountId, request.body),
    }),
  );
  app.delete(
    `${base}/:accountId`,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'removeServiceAccount',
        tags,
        summary: 'Remove a service account; its tokens end at once',
        description:
          'Every service refuses its tokens from the answer on. It cannot be undone. The account of an application is removed with the application.',
        params: AccountPath,
        response: {
          200: Message,
          ...errorResponses(400, 401, 403, 404, 409, accountOfApplication()),
        },
      },
    },
    async (request) => {
      await removeAccount(ctx, getCaller(request), request.params.accountId);
      return { message: 'Service account removed' };
    },
  );
}

/**
 * For administrators, with a session: creates the personal access tokens that act as a service account. They are listed,
 * edited, rotated and revoked with the routes of all tokens. [OAUTH-10]
 */
function accountTokenRoutes(app: App, ctx: TokenContext): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    `${base}/:accountId/tokens/scopes`,
    {
      onRequest,
      schema: {
        operationId: 'listServiceAccountScopes',
        tags,
        summary: 'The scopes that a token of a service account can have, by category',
        description:
          "Scopes that need a person are left out, and so are those that the organisation's policy denies.",
        params: AccountPath,
        response: { 200: GrantableScopes, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const principal = getMember(request);
      const account = await getAccountOf(ctx, principal, request.params.accountId);
      return { scopes: await listAccountScopes(ctx, principal, account) };
    },
  );
  app.get(
    `${base}/:accountId/tokens/bounds`,
    {
      onRequest,
      schema: {
        operationId: 'listServiceAccountBounds',
        tags,
        summary: 'What a token of a service account can be limited to, by name',
        description: 'They are the servers, tools and connectors that `bounds` of its tokens can name.',
        params: AccountPath,
        response: { 200: BoundChoices, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const principal = getMember(request);
      await getAccountOf(ctx, principal, request.params.accountId);
      const { orgId } = principal;
      return { bounds: await listBoundChoices(ctx.pool, { orgId, groups: null }) };
    },
  );
  app.post(
    `${base}/:accountId/tokens`,
    {
      onRequest,
      config: { isIdempotent: true, needsConfirmation: always },
      schema: {
        operationId: 'createServiceAccountToken',
        tags,
        summary: 'Create a token that acts as a service account; its value is shown once',
        description:
          'The token acts as the account until it expires, is revoked, or the account is removed. Its scopes, expiry, addresses and bounds never change afterwards. Without an `Idempotency-Key`, a repeated request creates another token.',
        params: AccountPath,
        body: CreateAccountTokenBody,
        response: {
          201: CreatedToken,
          ...errorResponses(400, 401, 403, 404, tooManyTokens('There are 10,000 active tokens')),
        },
      },
    },
    async (request, reply) => {
      const caller = getCaller(request);
      const account = await getAccountOf(ctx, caller, request.params.accountId);
      const token = await createAccountToken(ctx, caller, account, request.body);
      return sendSecret(reply, { message: createdMessage, token });
    },
  );
}

/** Registers the service accounts that administrators manage, with their tokens. */
export function registerServiceAccounts(app: App, ctx: TokenContext): void {
  accountRoutes(app, ctx);
  accountTokenRoutes(app, ctx);
}
