import { Readable } from 'node:stream';
import { memberOf, requireMember, scopeCatalogue } from '@platform/auth';
import {
  type App,
  AppError,
  createErrorHandler,
  type ErrorFamily,
  translateError,
} from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { ToolEndpoint } from './protocol-server.js';

const PATH = '/mcp';
const METADATA_PATH = '/.well-known/oauth-protected-resource/mcp';

const ResourceMetadata = Type.Object({
  resource: Type.String(),
  resource_name: Type.String(),
  scopes_supported: Type.Array(Type.String()),
  bearer_methods_supported: Type.Array(Type.String()),
});

/** JSON-RPC 2.0's own codes where they fit; -32001 for the refusals of HTTP. */
const codeOf = (status: number, code: string): number =>
  code === 'INVALID_JSON'
    ? -32_700
    : status >= 500
      ? -32_603
      : status === 400 || status === 413
        ? -32_600
        : -32_001;

const jsonRpcErrors: ErrorFamily = {
  schema: Type.Object({
    jsonrpc: Type.Literal('2.0'),
    id: Type.Null(),
    error: Type.Object({ code: Type.Integer(), message: Type.String() }),
  }),
  render: ({ status, code, message }) => ({
    jsonrpc: '2.0',
    id: null,
    error: { code: codeOf(status, code), message },
  }),
};

/** RFC 9728 §5.1: a challenge names where the resource is described. */
function withMetadata(error: AppError, metadataUrl: string): AppError {
  const challenge = error.headers?.['www-authenticate'];
  if (challenge === undefined) return error;
  const headers = {
    ...error.headers,
    'www-authenticate': `${challenge}, resource_metadata="${metadataUrl}"`,
  };
  return new AppError({ status: error.statusCode, code: error.code, message: error.message, headers });
}

/** A page of another site must not use a browser's reach to get at the endpoint (DNS rebinding). */
function assertOwnOrigin(request: FastifyRequest, publicOrigin: string): void {
  const { origin } = request.headers;
  if (origin !== undefined && origin !== publicOrigin)
    throw new AppError({ status: 403, code: 'FOREIGN_ORIGIN', message: 'Forbidden origin' });
}

function toWebRequest(request: FastifyRequest, url: string): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (typeof value === 'string' && name !== 'content-length' && name !== 'authorization')
      headers.set(name, value);
  return new Request(url, { method: 'POST', headers });
}

async function sendWebResponse(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  void reply.code(response.status);
  for (const [name, value] of response.headers) if (name !== 'content-length') void reply.header(name, value);
  if (!response.body) return reply.send();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  // JSON is small and whole; an event stream goes out as it comes.
  return reply.send(isStream ? Readable.fromWeb(response.body) : await response.text());
}

function postRoute(scope: App, endpoint: ToolEndpoint, publicUrl: string): void {
  scope.post(
    PATH,
    { onRequest: [scope.authenticate, requireMember], schema: { hide: true } },
    async (request, reply) => {
      if (request.body === undefined)
        throw new AppError({ status: 400, code: 'INVALID_JSON', message: 'Parse error' });
      // Only the revision of March 2025 had batches; a stateless endpoint has no use for them, an attacker has.
      if (Array.isArray(request.body))
        throw new AppError({ status: 400, code: 'BATCH', message: 'Send one message per request' });
      const principal = memberOf(request);
      const response = await endpoint.fetch(toWebRequest(request, publicUrl + PATH), {
        authInfo: {
          token: principal.token,
          clientId: principal.userId,
          scopes: [...principal.grantedScopes],
          extra: { principal },
        },
        parsedBody: request.body,
      });
      return sendWebResponse(reply, response);
    },
  );
}

/** Members, with a session or a token: `POST /mcp`. Open to everyone: what the resource is. */
export function mcpRoutes(app: App, endpoint: ToolEndpoint, publicUrl: string): void {
  const metadataUrl = publicUrl + METADATA_PATH;
  const { origin } = new URL(publicUrl);
  app.get(
    METADATA_PATH,
    {
      schema: {
        operationId: 'getToolEndpointMetadata',
        tags: ['Remote tools'],
        summary: 'Protected resource metadata of the remote tool endpoint (RFC 9728)',
        response: { 200: ResourceMetadata },
      },
    },
    (_request, reply) => {
      void reply.send({
        resource: publicUrl + PATH,
        resource_name: 'Workspace knowledge platform',
        scopes_supported: scopeCatalogue.flatMap(({ scopes }) => scopes.map(({ name }) => name)),
        bearer_methods_supported: ['header'],
      });
    },
  );
  app.register((scope: App, _options, done) => {
    const handle = createErrorHandler(jsonRpcErrors);
    scope.setErrorHandler((thrown, request, reply) => {
      handle(withMetadata(translateError(thrown), metadataUrl), request, reply);
    });
    scope.addHook('onRequest', (request, _reply, next) => {
      assertOwnOrigin(request, origin);
      next();
    });
    postRoute(scope, endpoint, publicUrl);
    // Stateless: there is no stream to open and no session to end.
    scope.route({
      method: ['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'],
      url: PATH,
      schema: { hide: true },
      handler: () => {
        const headers = { allow: 'POST' };
        throw new AppError({
          status: 405,
          code: 'METHOD_NOT_ALLOWED',
          message: 'Method not allowed',
          headers,
        });
      },
    });
    done();
  });
}
