import { getAccount, requireSession } from '@platform/auth';
import { type CountRequest, type App, errorResponses, getBodyText, notFound } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { getClient } from '../../base/caller/client.js';
import { toLimitKey } from './limit-key.js';
import type { ToolEntry } from './catalogue.js';
import type { ToolEndpoint } from './endpoint.js';
import type { ToolContext } from './tool.js';
import { createResultFrame, getLink, toResultJson } from './tool-result.js';

/*
 * The tool endpoint for the console, whose session is in a cookie that `/mcp` does not accept: what members see and call here is
 * what an agent of theirs that has every scope sees and calls there, by the same functions. [MCP-75, MCP-76]
 */

const base = '/api/v1/mcp-servers/tools';
const tags = ['Remote tools'];
const MAX_BODY_BYTES = 1_048_576;
/** The name by which the record of calls has the console. */
const CLIENT = 'Console';

const Json = Type.Record(Type.String(), Type.Unknown());

const UsableTool = Type.Object(
  {
    name: Type.String(),
    title: Type.Union([Type.String(), Type.Null()]),
    description: Type.Union([Type.String(), Type.Null()]),
    server: Type.Union([Type.String(), Type.Null()], {
      description: 'The mounted server that it is of; null for a tool of the platform.',
    }),
    connectors: Type.Array(Type.String(), {
      description: 'The connectors whose documents its answers come from.',
    }),
    scopes: Type.Array(Type.String(), { description: 'What a token needs to call it.' }),
    annotations: Json,
    inputSchema: Json,
  },
  { title: 'UsableTool' },
);
type UsableTool = Type.Static<typeof UsableTool>;

const CallBody = Type.Object(
  { arguments: Type.Optional(Json) },
  { additionalProperties: false, title: 'ToolCallRequest' },
);

const ToolAnswer = Type.Object(
  {
    isError: Type.Boolean({ description: 'Whether the tool reports that it failed.' }),
    content: Type.Array(Json, { description: 'The blocks of content, as an agent gets them.' }),
    structuredContent: Type.Optional(Type.Unknown()),
    link: Type.Union([Type.Object({ reason: Type.String(), url: Type.String() }), Type.Null()], {
      description: 'What has to be done in a browser before the call can succeed.',
    }),
  },
  { title: 'ToolAnswer' },
);
type ToolAnswer = Type.Static<typeof ToolAnswer>;

const toText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function toUsableTool({ tool, json, knowledge }: ToolEntry): UsableTool {
  const definition = JSON.parse(json) as Record<string, unknown>;
  return {
    name: tool.name,
    title: toText(definition['title']) ?? toText((tool.annotations as { title?: unknown }).title),
    description: toText(definition['description']),
    server: knowledge?.server ?? null,
    connectors: [...(knowledge?.connectors ?? [])],
    scopes: [...tool.scopes],
    // As agents read them: of another server's tool without the defaults by which a filter reads them.
    annotations: (definition['annotations'] ?? {}) as UsableTool['annotations'],
    inputSchema: definition['inputSchema'] as UsableTool['inputSchema'],
  };
}

/** The context of a call that a page of the console makes. */
function toContext(request: FastifyRequest, reply: FastifyReply, groups: ToolContext['groups']): ToolContext {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) gone.abort();
  });
  return {
    principal: getAccount(request),
    groups,
    requestId: request.id,
    protocolVersion: undefined,
    client: CLIENT,
    address: getClient(request),
    traceparent: undefined,
    tracestate: undefined,
    signal: gone.signal,
    isStreamed: false,
    // The arguments go on to the tool's server as they were sent.
    getParamsText: () => getBodyText(request) ?? '{}',
    report: () => Promise.resolve(),
  };
}

const frame = createResultFrame({});

/** Registers the tools that members see and call in the console, with a session. */
export function usableToolRoutes(
  app: App,
  { endpoint, countRequest }: { readonly endpoint: ToolEndpoint; readonly countRequest: CountRequest },
): void {
  const onRequest = [app.authenticate, requireSession];
  app.get(
    base,
    {
      onRequest,
      schema: {
        operationId: 'listUsableTools',
        tags,
        summary: 'The remote tools that the caller can use, as an agent of theirs sees them',
        description:
          'Scopes and groups are considered as for a token with every scope that the caller can grant.',
        response: { 200: Type.Object({ data: Type.Array(UsableTool) }), ...errorResponses(401, 403) },
      },
    },
    async (request) => {
      const catalogue = await endpoint.getCatalogue(getAccount(request));
      return { data: catalogue.getView(undefined).entries.map(toUsableTool) };
    },
  );
  app.post(
    `${base}/:tool/call`,
    {
      onRequest,
      bodyLimit: MAX_BODY_BYTES,
      config: { keepsBodyText: true },
      schema: {
        operationId: 'callTool',
        tags,
        summary: 'Call a remote tool as oneself, with the result that an agent would get',
        description: 'The call is recorded, limited and refused as one at `/mcp` is.',
        params: Type.Object({ tool: Type.String({ minLength: 1, maxLength: 128 }) }),
        body: CallBody,
        response: { 200: ToolAnswer, ...errorResponses(400, 401, 403, 404, 429) },
      },
    },
    async (request, reply): Promise<ToolAnswer> => {
      const principal = getAccount(request);
      countRequest(toLimitKey(principal));
      const catalogue = await endpoint.getCatalogue(principal);
      const entry = catalogue.find(request.params.tool);
      if (!entry) throw notFound('Tool not found');
      const view = catalogue.getView(undefined);
      const context = toContext(request, reply, catalogue.groups);
      const result = await endpoint.callTool(
        { catalogue, view, context },
        entry,
        request.body.arguments ?? {},
      );
      const {
        isError = false,
        content,
        structuredContent,
      } = JSON.parse(toResultJson(result, frame)) as {
        readonly isError?: boolean;
        readonly content: ToolAnswer['content'];
        readonly structuredContent?: unknown;
      };
      return {
        isError,
        content,
        ...(structuredContent !== undefined && { structuredContent }),
        link: getLink(result) ?? null,
      };
    },
  );
}
