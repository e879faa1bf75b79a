import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { ServerPath } from '../servers/schemas.js';
import { CallCounts, CallsQuery, ToolList, ToolListQuery, ToolUsage } from './schemas.js';
import { countCalls, getServerUsage, getToolUsage, listTools, type ToolOverviewContext } from './service.js';

const base = '/api/v1/mcp-servers';
const tags = ['Remote tools'];

/** Registers what administrators with a session see of all tools, and what members see of the calls of their own agents. */
export function registerToolOverview(app: App, ctx: ToolOverviewContext): void {
  const forAdmins = [app.authenticate, requireAdminRole, requireSession];
  app.get(
    `${base}/tools/all`,
    {
      onRequest: forAdmins,
      schema: {
        operationId: 'listOrganisationTools',
        tags,
        summary: 'Every remote tool of the organisation by name: who may call it, and how often it is called',
        description:
          'Has state, scope, groups and the calls of the last seven days of each. `isWaiting` finds those that wait for an approval.',
        querystring: ToolListQuery,
        response: { 200: ToolList, ...errorResponses(400, 401, 403) },
      },
    },
    (request) => listTools(ctx, getMember(request), request.query),
  );
  app.get(
    `${base}/tools/:tool/usage`,
    {
      onRequest: forAdmins,
      schema: {
        operationId: 'getToolUsage',
        tags,
        summary: 'Who calls a remote tool, how often, how long that takes, and how it ends',
        description:
          'Counts the last seven days. Callers, outcomes and percentiles are those of about the newest 1,000 calls.',
        params: Type.Object({ tool: Type.String({ minLength: 1, maxLength: 128 }) }),
        response: { 200: ToolUsage, ...errorResponses(400, 401, 403, 404) },
      },
    },
    (request) => getToolUsage(ctx, getMember(request), request.params.tool),
  );
  app.get(
    `${base}/:id/usage`,
    {
      onRequest: forAdmins,
      schema: {
        operationId: 'getMcpServerUsage',
        tags,
        summary: 'Who calls the tools of an MCP server, how often, how long that takes, and how it ends',
        description:
          'Counts the last seven days. Callers, outcomes and percentiles are those of about the newest 1,000 calls.',
        params: ServerPath,
        response: { 200: ToolUsage, ...errorResponses(400, 401, 403, 404) },
      },
    },
    (request) => getServerUsage(ctx, getMember(request), request.params.id),
  );
  app.get(
    `${base}/tools/calls`,
    {
      onRequest: [app.authenticate, requireSession],
      schema: {
        operationId: 'countToolCalls',
        tags,
        summary: "The calls of the caller's agents by hour; for administrators those of the organisation",
        description: 'Covers the last seven days. A connected app is one agent, and the console is none.',
        querystring: CallsQuery,
        response: { 200: CallCounts, ...errorResponses(400, 401, 403) },
      },
    },
    (request) => countCalls(ctx, getMember(request), request.query),
  );
}
