import { getMember, requireSession } from '@platform/auth';
import { type App, bearer, errorResponses, ListPageOf, SearchQuery } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { Account, AccountPath, ChangeAccountBody, CreateAccountBody } from './schemas.js';
import type { ServiceAccounts } from './service.js';
import { always } from '../../base/confirmation.js';

const base = '/api/v1/service-accounts';
const tags = ['Service accounts'];
const AccountAnswer = Type.Object({ serviceAccount: Account });

/** For administrators, with a session. [OAUTH-10] */
export function serviceAccountRoutes(app: App, service: ServiceAccounts): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    base,
    {
      onRequest,
      schema: {
        operationId: 'listServiceAccounts',
        tags,
        summary: 'The service accounts, newest first, those of applications included',
        security: bearer,
        querystring: SearchQuery,
        response: { 200: ListPageOf(Account), ...errorResponses(400, 401, 403) },
      },
    },
    (request) => service.list(getMember(request), request.query),
  );
  app.post(
    base,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'createServiceAccount',
        tags,
        summary: 'Create a service account, which owns tokens and is not a person',
        security: bearer,
        body: CreateAccountBody,
        response: { 201: AccountAnswer, ...errorResponses(400, 401, 403) },
      },
    },
    async (request, reply) =>
      reply.code(201).send({ serviceAccount: await service.create(getCaller(request), request.body) }),
  );
  app.get(
    `${base}/:accountId`,
    {
      onRequest,
      schema: {
        operationId: 'getServiceAccount',
        tags,
        summary: 'A service account',
        security: bearer,
        params: AccountPath,
        response: { 200: AccountAnswer, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({ serviceAccount: await service.get(getMember(request), request.params.accountId) }),
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
        security: bearer,
        params: AccountPath,
        body: ChangeAccountBody,
        response: { 200: AccountAnswer, ...errorResponses(400, 401, 403, 404, 409) },
      },
    },
    async (request) => ({
      serviceAccount: await service.change(getCaller(request), request.params.accountId, request.body),
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
        security: bearer,
        params: AccountPath,
        response: {
          200: Type.Object({ message: Type.String() }),
          ...errorResponses(400, 401, 403, 404, 409),
        },
      },
    },
    async (request) => {
      await service.remove(getCaller(request), request.params.accountId);
      return { message: 'Service account removed' };
    },
  );
}
