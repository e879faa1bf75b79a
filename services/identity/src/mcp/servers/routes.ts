import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses, Message } from '@platform/service-kit';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import type { ServerChecks } from './checks.js';
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
import type { ServerService } from './service.js';
import { always } from '../../base/confirmation.js';

const base = '/api/v1/mcp-servers';
const tags = ['MCP servers'];

/** Registers the routes of the MCP servers whose tools `/mcp` offers, for administrators with a session. */
export function serverRoutes(app: App, service: ServerService): void {
  const onRequest = [app.authenticate, requireAdminRole, requireSession];
  app.get(
    base,
    {
      onRequest,
      schema: {
        operationId: 'listMcpServers',
        tags,
        summary: 'The MCP servers, newest first',
        querystring: ServerQuery,
        response: { 200: ServerPage, ...errorResponses(400, 401, 403) },
      },
    },
    (request) => service.list(getMember(request), request.query),
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
        body: CreateServerBody,
        response: { 201: ServerResponse, ...errorResponses(400, 401, 403, 409) },
      },
    },
    async (request, reply) =>
      reply.code(201).send({ server: await service.create(getCaller(request), request.body) }),
  );
  app.get(
    `${base}/:id`,
    {
      onRequest,
      schema: {
        operationId: 'getMcpServer',
        tags,
        summary: 'An MCP server',
        params: ServerPath,
        response: { 200: ServerResponse, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({ server: await service.get(getMember(request), request.params.id) }),
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
        params: ServerPath,
        body: ChangeServerBody,
        response: { 200: ServerResponse, ...errorResponses(400, 401, 403, 404, 409) },
      },
    },
    async (request) => ({
      server: await service.change(getCaller(request), request.params.id, request.body),
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
        params: ServerPath,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      await service.remove(getCaller(request), request.params.id);
      return { message: 'MCP server removed' };
    },
  );
}

/** Registers the routes that connect to the server, for administrators with a session. */
export function serverCheckRoutes(app: App, checks: ServerChecks): void {
  const onRequest = [app.authenticate, requireAdminRole, requireSession];
  app.post(
    `${base}/:id/refresh`,
    {
      onRequest,
      schema: {
        operationId: 'refreshMcpServer',
        tags,
        summary: 'Ask the server for its tools now; differences wait for approval',
        params: ServerPath,
        response: { 200: Refreshed, ...errorResponses(400, 401, 403, 404, 429, 502) },
      },
    },
    (request) => checks.refresh(getCaller(request), request.params.id),
  );
  app.post(
    `${base}/:id/test`,
    {
      onRequest,
      schema: {
        operationId: 'testMcpServer',
        tags,
        summary: 'Connect to the server and report what is wrong, if anything; nothing is stored',
        params: ServerPath,
        response: { 200: TestedServer, ...errorResponses(400, 401, 403, 404, 429) },
      },
    },
    (request) => checks.test(getMember(request), request.params.id),
  );
}
