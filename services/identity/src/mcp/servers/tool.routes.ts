import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses, stringifyJson } from '@platform/service-kit';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { DecideBody, Decided, ToolDetail, ToolPage, ToolPath, ToolQuery } from './tool.schemas.js';
import { ServerPath } from './schemas.js';
import type { ServerContext } from './service.js';
import { decideOnTools, getServerTool, listServerTools } from './tool-decisions.js';
import { always } from '../../base/confirmation.js';
import { definitionChanged } from './errors.js';

const base = '/api/v1/mcp-servers/:id/tools';
const tags = ['MCP servers'];

/**
 * Registers the routes that decide which tools of a server are offered, to whom, and by which definition, for
 * administrators with a session.
 */
export function mountedToolRoutes(app: App, ctx: ServerContext): void {
  const onRequest = [app.authenticate, requireAdminRole, requireSession];
  app.get(
    base,
    {
      onRequest,
      schema: {
        operationId: 'listMcpTools',
        tags,
        summary: 'The tools of an MCP server, by name',
        description:
          'Each has the state of its definition: approved, new, changed or gone. Hidden characters in definitions are flagged.',
        params: ServerPath,
        querystring: ToolQuery,
        response: { 200: ToolPage, ...errorResponses(400, 401, 403, 404) },
      },
    },
    (request) => listServerTools(ctx, getMember(request), request.params.id, request.query),
  );
  app.get(
    `${base}/:tool`,
    {
      onRequest,
      schema: {
        operationId: 'getMcpTool',
        tags,
        summary: 'The offered and the approved definition of a tool, and how they differ',
        description: 'Hidden characters in a definition are flagged.',
        params: ToolPath,
        response: { 200: ToolDetail, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request, reply) => {
      const tool = await getServerTool(ctx, getMember(request), request.params.id, request.params.tool);
      // The numbers of definitions go out as the server sent them.
      return reply.type('application/json; charset=utf-8').serializer(stringifyJson).send(tool);
    },
  );
  app.patch(
    base,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'decideOnMcpTools',
        tags,
        summary: 'Approve definitions, and map tools to scopes',
        description:
          'A definition is approved by the hash of what was seen: if the server offers another one meanwhile, it is 409 `DEFINITION_CHANGED`. Agents see the result with their next request.',
        params: ServerPath,
        body: DecideBody,
        response: { 200: Decided, ...errorResponses(400, 401, 403, 404, 409, definitionChanged('search')) },
      },
    },
    async (request) => ({
      tools: [...(await decideOnTools(ctx, getCaller(request), request.params.id, request.body))],
    }),
  );
}
