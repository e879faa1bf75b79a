import {
  getAccount,
  insufficientScope,
  requireAccount,
  requireScopes,
  standardAuthErrors,
} from '@platform/auth';
import { type App, errorResponses, validationError } from '@platform/service-kit';
import { requireAdminRole } from '../base/authority.js';
import {
  ActionSearch,
  Configuration,
  Decision,
  Decisions,
  Evaluation,
  Evaluations,
  FoundActions,
  FoundEntities,
  ResourceSearch,
  SubjectSearch,
} from './schemas.js';
import {
  type AccessContext,
  evaluate,
  evaluateMany,
  searchActions,
  searchResources,
  searchSubjects,
} from './service.js';

const tags = ['Access'];
const base = '/access/v1';
/** Whoever asks about somebody else needs the scope. */
const aboutOthers = insufficientScope(standardAuthErrors, ['access:read']);

/** For everybody: where decisions are asked for. */
function configurationRoute(app: App, publicUrl: string): void {
  app.get(
    '/.well-known/authzen-configuration',
    {
      schema: {
        operationId: 'getAccessConfiguration',
        tags,
        summary: 'Where the platform answers who can use what (OpenID AuthZEN 1.0)',
        description: 'Clients of AuthZEN read it to find the other operations.',
        response: { 200: Configuration },
      },
    },
    (_request, reply) => {
      void reply.send({
        policy_decision_point: publicUrl,
        access_evaluation_endpoint: `${publicUrl}${base}/evaluation`,
        access_evaluations_endpoint: `${publicUrl}${base}/evaluations`,
        search_subject_endpoint: `${publicUrl}${base}/search/subject`,
        search_resource_endpoint: `${publicUrl}${base}/search/resource`,
        search_action_endpoint: `${publicUrl}${base}/search/action`,
      });
    },
  );
}

/** For administrators, whose tokens need `access:read`; for everybody about their own account, where one subject is named. */
function decisionRoutes(app: App, ctx: AccessContext): void {
  const onRequest = [app.authenticate, requireAccount];
  app.post(
    `${base}/evaluation`,
    {
      onRequest,
      schema: {
        operationId: 'evaluateAccess',
        tags,
        summary: 'Whether a subject can do something, and why',
        description:
          'Decides as the service itself would at this moment, and says why not. Anybody may ask about themselves; about others, administrators with `access:read`.',
        body: Evaluation,
        response: { 200: Decision, ...errorResponses(400, 401, 403, aboutOthers) },
      },
    },
    (request) => evaluate(ctx, getAccount(request), request.body),
  );
  app.post(
    `${base}/evaluations`,
    {
      onRequest,
      schema: {
        operationId: 'evaluateAccesses',
        tags,
        summary: 'The same for many at once, in their order',
        description:
          'Each is decided as `evaluateAccess` decides it. Fields beside the list are defaults of its items.',
        body: Evaluations,
        response: { 200: Decisions, ...errorResponses(400, 401, 403, aboutOthers) },
      },
    },
    (request) => evaluateMany(ctx, getAccount(request), request.body),
  );
  app.post(
    `${base}/search/subject`,
    {
      onRequest: [app.authenticate, requireScopes(['access:read']), requireAdminRole],
      schema: {
        operationId: 'searchAccessSubjects',
        tags,
        summary: 'Who can do something with a resource',
        description:
          'Reads at most 2,000 accounts in a request, so a page can be short and yet have a `next_token`.',
        body: SubjectSearch,
        response: { 200: FoundEntities, ...errorResponses(400, 401, 403, aboutOthers) },
      },
    },
    (request) => searchSubjects(ctx, getAccount(request), request.body),
  );
  app.post(
    `${base}/search/resource`,
    {
      onRequest,
      schema: {
        operationId: 'searchAccessResources',
        tags,
        summary: 'What a subject can do something with',
        description:
          'Anybody may ask about themselves; about others, administrators with `access:read`. Pages by `page.token`.',
        body: ResourceSearch,
        response: { 200: FoundEntities, ...errorResponses(400, 401, 403, aboutOthers) },
      },
    },
    (request) => searchResources(ctx, getAccount(request), request.body),
  );
  app.post(
    `${base}/search/action`,
    {
      onRequest,
      schema: {
        operationId: 'searchAccessActions',
        tags,
        summary: 'What a subject can do with a resource',
        description: 'Anybody may ask about themselves; about others, administrators with `access:read`.',
        body: ActionSearch,
        response: { 200: FoundActions, ...errorResponses(400, 401, 403, aboutOthers) },
      },
    },
    (request) => searchActions(ctx, getAccount(request), request.body),
  );
}

/** Registers who can use what, by the OpenID AuthZEN Authorization API 1.0. */
export function registerAccess(app: App, ctx: AccessContext & { readonly publicUrl: string }): void {
  configurationRoute(app, ctx.publicUrl);
  app.register((scope: App, _options, done) => {
    // The certification of the API wants 400 where other endpoints answer 415.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'string' },
      app.getDefaultJsonParser('error', 'error'),
    );
    scope.addContentTypeParser('*', (_request, _payload, fail) =>
      fail(validationError([{ field: 'content-type', message: 'must be application/json' }])),
    );
    decisionRoutes(scope, ctx);
    done();
  });
}
