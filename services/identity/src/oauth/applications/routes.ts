import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses, ListPageOf, Message, searchBy } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { always } from '../../base/confirmation.js';
import { BoundChoices } from '../../tokens/schemas.js';
import type { ApplicationContext } from './application.js';
import {
  Application,
  ApplicationPath,
  ChangeApplicationBody,
  CreateApplicationBody,
  CreatedApplication,
  CreatedSecret,
  SecretPath,
} from './schemas.js';
import { createSecret, revokeClientSecret } from './secrets.js';
import {
  changeApplication,
  createApplication,
  deleteApplication,
  getApplication,
  listApplicationBounds,
  listApplications,
} from './service.js';
import { noSecrets, tooManySecrets } from './errors.js';

const base = '/api/v1/oauth-applications';
const tags = ['OAuth applications'];

/** For administrators, with a session. */
function applicationRoutes(app: App, ctx: ApplicationContext): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    base,
    {
      onRequest,
      schema: {
        operationId: 'listOAuthApplications',
        tags,
        summary: 'The OAuth 2.0 applications, newest first',
        description:
          'Pages by number, or by `cursor`. Clients that registered themselves are not among them. Secrets are never shown.',
        querystring: searchBy('Part of the name, the client id or a redirect address, in any case.'),
        response: { 200: ListPageOf(Application), ...errorResponses(400, 401, 403) },
      },
    },
    (request) => listApplications(ctx, getMember(request), request.query),
  );
  app.post(
    base,
    {
      onRequest,
      config: { isIdempotent: true, needsConfirmation: always },
      schema: {
        operationId: 'createOAuthApplication',
        tags,
        summary: 'Register an application; its secret is shown once',
        description:
          'With `client_credentials` it acts as a service account of its own. Scopes have no default. Without an `Idempotency-Key`, a repeated request registers another application.',
        body: CreateApplicationBody,
        response: { 201: CreatedApplication, ...errorResponses(400, 401, 403) },
      },
    },
    async (request, reply) => {
      const created = await createApplication(ctx, getCaller(request), request.body);
      const message = 'Application created';
      return reply.code(201).send({ message, ...created });
    },
  );
  app.get(
    `${base}/bounds`,
    {
      onRequest,
      schema: {
        operationId: 'listOAuthApplicationBounds',
        tags,
        summary: 'What an application can be limited to when it acts as its service account, by name',
        description: 'They are the servers, tools and connectors that `bounds` of an application can name.',
        response: { 200: BoundChoices, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({ bounds: await listApplicationBounds(ctx, getMember(request)) }),
  );
  app.get(
    `${base}/:clientId`,
    {
      onRequest,
      schema: {
        operationId: 'getOAuthApplication',
        tags,
        summary: 'An application',
        description: 'Its secrets are listed by id and time, never by value.',
        params: ApplicationPath,
        response: {
          200: Type.Object({ application: Application }),
          ...errorResponses(400, 401, 403, 404),
        },
      },
    },
    async (request) => ({
      application: await getApplication(ctx, getMember(request), request.params.clientId),
    }),
  );
  app.patch(
    `${base}/:clientId`,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'changeOAuthApplication',
        tags,
        summary: 'Change, disable or enable an application',
        description:
          'A field that is left out keeps its value. Fewer scopes and other bounds are in force with the next request, also for tokens that it has; a disabled application gets no tokens.',
        params: ApplicationPath,
        body: ChangeApplicationBody,
        response: {
          200: Type.Object({ application: Application }),
          ...errorResponses(400, 401, 403, 404),
        },
      },
    },
    async (request) => ({
      application: await changeApplication(ctx, getCaller(request), request.params.clientId, request.body),
    }),
  );
  app.delete(
    `${base}/:clientId`,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'removeOAuthApplication',
        tags,
        summary: 'Remove an application with its service account; its tokens end at once',
        description: 'Connections of members with it end, too. It cannot be undone.',
        params: ApplicationPath,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      await deleteApplication(ctx, getCaller(request), request.params.clientId);
      return { message: 'Application removed' };
    },
  );
}

/** For administrators, with a session: the secrets of an application. */
function applicationSecretRoutes(app: App, ctx: ApplicationContext): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.post(
    `${base}/:clientId/secrets`,
    {
      onRequest,
      config: { isIdempotent: true, needsConfirmation: always },
      schema: {
        operationId: 'createOAuthApplicationSecret',
        tags,
        summary: 'Add a second secret, which is shown once; both work until one is revoked',
        description:
          'An application has at most two secrets, so that one can be replaced without an interruption: create, deploy, revoke the old one.',
        params: ApplicationPath,
        response: {
          201: CreatedSecret,
          ...errorResponses(400, 401, 403, 404, 409, tooManySecrets(), noSecrets()),
        },
      },
    },
    async (request, reply) => {
      const created = await createSecret(ctx, getCaller(request), request.params.clientId);
      const message = 'Secret created. Copy it now: it is not shown again.';
      return reply.code(201).send({ message, ...created });
    },
  );
  app.delete(
    `${base}/:clientId/secrets/:secretId`,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'revokeOAuthApplicationSecret',
        tags,
        summary: 'Revoke a secret at once',
        description: 'Access tokens that were issued with it last until they expire, ten minutes at most.',
        params: SecretPath,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const { clientId, secretId } = request.params;
      await revokeClientSecret(ctx, getCaller(request), clientId, secretId);
      return { message: 'Secret revoked' };
    },
  );
}

/** Registers the OAuth applications that administrators manage. */
export function registerApplications(app: App, ctx: ApplicationContext): void {
  applicationRoutes(app, ctx);
  applicationSecretRoutes(app, ctx);
}
