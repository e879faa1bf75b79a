import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses, Message } from '@platform/service-kit';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { type CheckContext, refreshNow, testServer } from './checks.js';
import {
  ChangeServerBody,
  CreateServerBody,
  Refreshed,
  ServerPage,
  ServerPath,
  ServerQuery,
  ServerResponse,
  TestedServer,
} from './schemas.js';
import {
  changeServer,
  createServer,
  getServer,
  listServers,
  removeServer,
  type ServerContext,
} from './service.js';
import { UpstreamFault } from '../../base/egress/faults.js';
import { always } from '../../base/confirmation.js';
import { nameTaken, refreshFailed, tooManyListings, tooManyServers } from './errors.js';

const base = '/api/v1/mcp-servers';
const tags = ['MCP servers'];

/** Registers the routes of the MCP servers whose tools `/mcp` offers, for administrators with a session. */
export function serverRoutes(app: App, ctx: ServerContext): void {
  const onRequest = [app.authenticate, requireAdminRole, requireSession];
  app.get(
    base,
    {
      onRequest,
      schema: {
        operationId: 'listMcpServers',
        tags,
        summary: 'The MCP servers, newest first',
        description: 'Says of each whether it works and what waits for an approval.',
        querystring: ServerQuery,
        response: { 200: ServerPage, ...errorResponses(400, 401, 403) },
      },
    },
    (request) => listServers(ctx, getMember(request), request.query),
  );
  app.post(
    base,
    {
      onRequest,
      config: { isIdempotent: true, needsConfirmation: always },
      schema: {
        operationId: 'createMcpServer',
        tags,
        summary: 'Mount an MCP server; its tools stay hidden until they are approved and mapped to a scope',
        description:
          "Until an administrator approves a tool's definition and maps it to a scope, no agent sees it. Names are unique. A repeated request is 409.",
        body: CreateServerBody,
        response: {
          201: ServerResponse,
          ...errorResponses(400, 401, 403, 404, 409, nameTaken(), tooManyServers(100)),
        },
      },
    },
    async (request, reply) =>
      reply.code(201).send({ server: await createServer(ctx, getCaller(request), request.body) }),
  );
  app.get(
    `${base}/:id`,
    {
      onRequest,
      schema: {
        operationId: 'getMcpServer',
        tags,
        summary: 'An MCP server',
        description: '`leftOut` names tools of its list that cannot be used, with the reason.',
        params: ServerPath,
        response: { 200: ServerResponse, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({ server: await getServer(ctx, getMember(request), request.params.id) }),
  );
  app.patch(
    `${base}/:id`,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'changeMcpServer',
        tags,
        summary: 'Change an MCP server',
        description:
          'A field that is left out keeps its value. A secret is kept for the same origin only. After a change to another origin, no tool works until the new server offers what was approved.',
        params: ServerPath,
        body: ChangeServerBody,
        response: { 200: ServerResponse, ...errorResponses(400, 401, 403, 404, 409, nameTaken()) },
      },
    },
    async (request) => ({
      server: await changeServer(ctx, getCaller(request), request.params.id, request.body),
    }),
  );
  app.delete(
    `${base}/:id`,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'removeMcpServer',
        tags,
        summary: 'Remove an MCP server, with what was decided on its tools',
        description:
          'Credentials of accounts at the server are deleted, and tokens of sign-ins are revoked there. Calls in progress fail. It cannot be undone.',
        params: ServerPath,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      await removeServer(ctx, getCaller(request), request.params.id);
      return { message: 'MCP server removed' };
    },
  );
}

/** Registers the routes that connect to the server, for administrators with a session. */
export function serverCheckRoutes(app: App, ctx: CheckContext): void {
  const onRequest = [app.authenticate, requireAdminRole, requireSession];
  app.post(
    `${base}/:id/refresh`,
    {
      onRequest,
      schema: {
        operationId: 'refreshMcpServer',
        tags,
        summary: 'Ask the server for its tools now; differences wait for approval',
        description:
          'Waits for the server. New and changed definitions have no effect until they are approved. At most 60 tests and refreshes of an organisation in a minute.',
        params: ServerPath,
        response: {
          200: Refreshed,
          ...errorResponses(
            400,
            401,
            403,
            404,
            429,
            502,
            refreshFailed(new UpstreamFault('unreachable')),
            tooManyListings(),
          ),
        },
      },
    },
    (request) => refreshNow(ctx, getCaller(request), request.params.id),
  );
  app.post(
    `${base}/:id/test`,
    {
      onRequest,
      schema: {
        operationId: 'testMcpServer',
        tags,
        summary: 'Connect to the server and report what is wrong, if anything; nothing is stored',
        description:
          'Waits for the server. Names the step that failed. At most 60 tests and refreshes of an organisation in a minute.',
        params: ServerPath,
        response: { 200: TestedServer, ...errorResponses(400, 401, 403, 404, 429, tooManyListings()) },
      },
    },
    (request) => testServer(ctx, getMember(request), request.params.id),
  );
}
