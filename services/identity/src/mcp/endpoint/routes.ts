import {
  DPOP_ALGORITHMS,
  getAccount,
  insufficientScope,
  requireAccount,
  standardAuthErrors,
} from '@platform/auth';
import {
  type CountRequest,
  type App,
  AppError,
  createErrorHandler,
  type Logger,
  translateError,
} from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { RecordStep } from '../../oauth/attempts/feature.js';
import { initialScopes } from '../../oauth/provider/authorization-request.js';
import { ISSUER_PATH } from '../../oauth/provider/issuer.js';
import { MCP_AUDIENCE } from '../../oauth/provider/protected-resources.js';
import { findMissingScopes } from './authority.js';
import { negotiateResponseForm } from './response-form.js';
import type { ToolEndpoint } from './endpoint.js';
import { parseToolFilter } from './tool-filter.js';
import { createMessageHandler, type ReportProgress } from './message-handler.js';
import type { Caller } from './tool-calls.js';
import { RequestContext } from './request-context.js';
import { toLimitKey } from './limit-key.js';
import { createWithMetadata, jsonRpcErrors } from './rpc-errors.js';
import { messageSchema } from './schemas.js';

/** Clients and people append a slash. Each form has metadata of its own, because a client compares the URL that it uses (RFC 9728 §3.3). */
const PATHS = ['/mcp', '/mcp/'] as const;
type Path = (typeof PATHS)[number];
const toMetadataPath = (path: Path): string => `/.well-known/oauth-protected-resource${path}`;
/** Allows for small mail attachments; large ones have to be sent to the REST endpoint. */
const MAX_MESSAGE_BYTES = 1_048_576;

const ResourceMetadata = Type.Object({
  resource: Type.String(),
  resource_name: Type.String(),
  authorization_servers: Type.Array(Type.String()),
  scopes_supported: Type.Array(Type.String()),
  bearer_methods_supported: Type.Array(Type.String()),
  dpop_signing_alg_values_supported: Type.Array(Type.String()),
});

export interface McpRouteDeps {
  readonly endpoint: ToolEndpoint;
  readonly countRequest: CountRequest;
  readonly recordStep: RecordStep;
  readonly log: Logger;
  /** The URL at which clients reach the platform. */
  readonly publicUrl: string;
}

/** Rejects requests from pages of other sites, which could reach the endpoint through a browser by DNS rebinding. */
function assertOwnOrigin(request: FastifyRequest, publicOrigin: string): void {
  const { origin } = request.headers;
  if (origin !== undefined && origin !== publicOrigin)
    throw new AppError({ status: 403, code: 'FOREIGN_ORIGIN', message: 'Forbidden origin' });
}

function assertOneMessage(body: unknown): void {
  if (body === undefined) throw new AppError({ status: 400, code: 'INVALID_JSON', message: 'Parse error' });
  // Only the revision of March 2025 had batches. They are useless here, and would let one request cause a lot of work.
  if (Array.isArray(body))
    throw new AppError({ status: 400, code: 'BATCH', message: 'Send one message per request' });
  if (body === null || typeof body !== 'object')
    throw new AppError({ status: 400, code: 'NO_MESSAGE', message: 'A message is a JSON object' });
}

/**
 * Refuses a tool for which an OAuth client lacks scopes with the challenge that makes it ask for them (step-up, RFC 6750
 * §3.1). It then names all scopes that the client needs: the granted and the missing ones. Other credentials cannot
 * get more scopes, so their agents read a tool error.
 */
function assertScopes(
  { catalogue, context }: Pick<Caller, 'catalogue' | 'context'>,
  message: unknown,
  recordChallenge: ToolEndpoint['recordChallenge'],
): void {
  const { principal } = context;
  const { method, params } = message as { method?: unknown; params?: { name?: unknown } | null };
  if (method !== 'tools/call' || typeof params?.name !== 'string') return;
  const tool = catalogue.find(params.name)?.tool;
  const missing = tool ? findMissingScopes(principal, tool) : [];
  if (missing.length === 0) return;
  recordChallenge(context, params.name, missing);
  throw insufficientScope(standardAuthErrors, [...new Set([...principal.grantedScopes, ...missing])]);
}

/** The API documentation shows the form without a slash alone. */
const isShown = (path: Path): boolean => path === '/mcp';

function postRoute(scope: App, path: Path, { endpoint, countRequest, log }: McpRouteDeps): void {
  const handleMessage = createMessageHandler(endpoint.methods, log);
  const limitRequests = (request: FastifyRequest, _reply: FastifyReply, next: () => void): void => {
    countRequest(toLimitKey(getAccount(request)));
    next();
  };
  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    assertOneMessage(request.body);
    const form = negotiateResponseForm(request.headers.accept);
    const principal = getAccount(request);
    const toolFilter = parseToolFilter(request);
    const catalogue = await endpoint.getCatalogue(principal);
    const toContext = (report?: ReportProgress) =>
      new RequestContext({ principal, groups: catalogue.groups }, request, reply, report);
    if (principal.kind === 'oauth')
      assertScopes({ catalogue, context: toContext() }, request.body, endpoint.recordChallenge);
    return handleMessage(request, reply, form, (report) => ({
      catalogue,
      view: catalogue.getView(toolFilter),
      context: toContext(report),
    }));
  }
  scope.post(
    path,
    {
      bodyLimit: MAX_MESSAGE_BYTES,
      onRequest: [scope.authenticateFor(MCP_AUDIENCE), requireAccount, limitRequests],
      validatorCompiler: () => () => true,
      config: { keepsBodyText: true },
      schema: isShown(path) ? messageSchema : { hide: true },
    },
    handle,
  );
}

/** Open to everyone: the protected resource metadata (RFC 9728). */
function metadataRoute(app: App, path: Path, { publicUrl, recordStep }: McpRouteDeps): void {
  app.get(
    toMetadataPath(path),
    {
      schema: {
        hide: !isShown(path),
        operationId: 'getToolEndpointMetadata',
        tags: ['Remote tools'],
        summary: 'Protected resource metadata of the remote tool endpoint (RFC 9728)',
        description:
          'Clients read it after a 401 of `/mcp`, to find the authorization server and the scopes.',
        response: { 200: ResourceMetadata },
      },
    },
    (request, reply) => {
      recordStep(request, { step: 'metadata' });
      void reply.send({
        resource: publicUrl + path,
        resource_name: 'Workspace knowledge platform',
        authorization_servers: [publicUrl + ISSUER_PATH],
        // The least that is useful: an agent asks for more when a tool needs it.
        scopes_supported: [...initialScopes],
        bearer_methods_supported: ['header'],
        dpop_signing_alg_values_supported: [...DPOP_ALGORITHMS],
      });
    },
  );
}

/** Rejects other methods with 405: a stateless endpoint has no stream to open and no session to delete. */
function otherMethods(scope: App, url: Path): void {
  scope.route({
    method: ['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'],
    url,
    schema: { hide: true },
    handler: () => {
      const headers = { allow: 'POST' };
      throw new AppError({ status: 405, code: 'METHOD_NOT_ALLOWED', message: 'Method not allowed', headers });
    },
  });
}

/** Registers `POST /mcp`, for members with a session or a token. */
export function mcpRoutes(app: App, deps: McpRouteDeps): void {
  const { publicUrl, recordStep } = deps;
  const { origin } = new URL(publicUrl);
  for (const path of PATHS) {
    metadataRoute(app, path, deps);
    const withMetadata = createWithMetadata(publicUrl + toMetadataPath(path));
    app.register((scope: App, _options, done) => {
      const handle = createErrorHandler(jsonRpcErrors);
      scope.setErrorHandler((thrown, request, reply) => {
        const error = translateError(thrown);
        if (error.statusCode === 401 && request.headers.authorization === undefined)
          recordStep(request, { step: 'challenge' });
        handle(withMetadata(error), request, reply);
      });
      scope.addHook('onRequest', (request, _reply, next) => {
        assertOwnOrigin(request, origin);
        next();
      });
      postRoute(scope, path, deps);
      otherMethods(scope, path);
      done();
    });
  }
}
