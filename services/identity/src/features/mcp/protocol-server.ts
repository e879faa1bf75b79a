import type { UserPrincipal } from '@platform/auth';
import type { AppError } from '@platform/service-kit';
import { createValidatorCompiler, describeFaults, translateError, type Logger } from '@platform/service-kit';
import {
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  type ListToolsResult,
  type McpHttpHandler,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { canCall, type CheckArguments, type Tool } from './tool.js';

type ListedTool = ListToolsResult['tools'][number];

const toListed = ({ name, title, description, inputSchema, outputSchema, annotations }: Tool): ListedTool =>
  // Plain copies: TypeBox keeps its kinds in properties that aren't JSON.
  structuredClone({
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
  }) as unknown as ListedTool;

function compileArguments(tool: Tool): CheckArguments {
  const compile = createValidatorCompiler();
  const validate = compile({ schema: tool.inputSchema, httpPart: 'body', method: 'POST', url: '/mcp' }) as {
    (args: unknown): boolean;
    errors?: Parameters<typeof describeFaults>[0];
  };
  return (args) => (validate(args) ? [] : describeFaults(validate.errors ?? [], 'arguments'));
}

const toolError = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true });

/** Names what is wrong, and with a scope that is missing which it is. */
function describeRefusal(tool: Tool, principal: UserPrincipal): string {
  const needs = principal.kind === 'pat' ? ` It needs the scopes: ${tool.scopes.join(', ')}.` : '';
  return `This credential can not call ${tool.name}.${needs}${tool.isAdminOnly ? ' It needs an administrator.' : ''}`;
}

/** Answers one request. */
export type ToolEndpoint = Pick<McpHttpHandler, 'fetch'>;

/**
 * Both protocol eras over the official SDK, stateless: a server per request, its tools and
 * validators built once.
 *
 * @returns the SDK's handler; pass the principal as `authInfo.extra.principal`.
 */
export function createToolEndpoint(tools: readonly Tool[], log: Logger, version: string): ToolEndpoint {
  const byName = new Map(
    tools.map((tool) => [tool.name, { tool, listed: toListed(tool), check: compileArguments(tool) }]),
  );

  async function call(
    principal: UserPrincipal,
    name: string,
    args: Record<string, unknown>,
  ): Promise<CallToolResult> {
    const entry = byName.get(name);
    if (!entry)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 64)}`);
    if (!canCall(principal, entry.tool)) return toolError(describeRefusal(entry.tool, principal));
    const faults = entry.check(args);
    if (faults.length > 0)
      return toolError(
        `Invalid arguments: ${faults.map(({ field, message }) => `${field} ${message}`).join('; ')}`,
      );
    try {
      const result = await entry.tool.call(principal, args);
      return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
    } catch (thrown) {
      const error: AppError = translateError(thrown);
      if (error.statusCode >= 500) log.error({ err: error.cause ?? error, tool: name }, 'tool failed');
      return toolError(error.message);
    }
  }

  function createServer({ authInfo }: Pick<McpRequestContext, 'authInfo'>) {
    const principal = authInfo?.extra?.principal as UserPrincipal;
    // The low-level class is deprecated for common use only: McpServer converts every schema on every call.
    // oxlint-disable-next-line typescript/no-deprecated
    const server = new Server(
      { name: 'workspace-knowledge-platform', version },
      { capabilities: { tools: {} } },
    );
    server.setRequestHandler('tools/list', () => ({
      tools: [...byName.values()].filter(({ tool }) => canCall(principal, tool)).map(({ listed }) => listed),
    }));
    server.setRequestHandler('tools/call', ({ params }) =>
      call(principal, params.name, params.arguments ?? {}),
    );
    return server;
  }

  const onerror = (error: Error) => {
    log.debug({ err: error }, 'tool endpoint refused a message');
  };
  const modern = createMcpHandler(createServer, { legacy: 'reject', onerror });

  // The SDK's own fallback to the older revisions answers with event streams only.
  const fetchLegacy: ToolEndpoint['fetch'] = async (request, options = {}) => {
    const server = createServer(options);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's transports are no EventTargets
    transport.onerror = onerror;
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, options);
    } finally {
      await server.close();
    }
  };

  return {
    fetch: async (request, options) =>
      (await isLegacyRequest(request, options?.parsedBody))
        ? fetchLegacy(request, options)
        : modern.fetch(request, options),
  };
}
