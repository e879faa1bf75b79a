import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import { ActivityQuery, ActivityResponse } from '../../mcp/activity/schemas.js';
import { Agent, AgentPath } from './schemas.js';
import type { AccessContext } from '../service.js';
import { getAgent, listAgentCalls, listOwnAgentCalls } from './service.js';

const base = '/api/v1/agents';
const tags = ['Agents'];

/**
 * Registers the agents: tokens, connected apps and service accounts, each with what it may do and what it did. Members with a
 * session see what acts for themselves, administrators what acts for anybody in the organisation.
 */
export function registerAgents(app: App, ctx: AccessContext): void {
  const onRequest = [app.authenticate, requireSession];
  app.get(
    `${base}/calls`,
    {
      onRequest,
      schema: {
        operationId: 'listOwnAgentCalls',
        tags,
        summary: 'What all agents of the caller called, and what was refused to them, newest first',
        description:
          'Pages by number, or by `cursor`. A connected app is one agent, however often its tokens are renewed.',
        querystring: ActivityQuery,
        response: { 200: ActivityResponse, ...errorResponses(400, 401, 403) },
      },
    },
    (request) => listOwnAgentCalls(ctx, getMember(request), request.query),
  );
  app.get(
    `${base}/:kind/:id`,
    {
      onRequest,
      schema: {
        operationId: 'getAgent',
        tags,
        summary: 'What a token, a connected app or a service account may do, and what was refused to it',
        description: 'A member sees the own agents alone, administrators those of the organisation.',
        params: AgentPath,
        response: { 200: Agent, ...errorResponses(400, 401, 403, 404) },
      },
    },
    (request) => getAgent(ctx, getMember(request), request.params),
  );
  app.get(
    `${base}/:kind/:id/calls`,
    {
      onRequest,
      schema: {
        operationId: 'listAgentCalls',
        tags,
        summary: 'What an agent called, and what was refused to it, newest first',
        description:
          'Follow `nextCursor` for older ones. The calls of a connected app are listed across its renewed tokens.',
        params: AgentPath,
        querystring: ActivityQuery,
        response: { 200: ActivityResponse, ...errorResponses(400, 401, 403, 404) },
      },
    },
    (request) => listAgentCalls(ctx, getMember(request), request.params, request.query),
  );
}
