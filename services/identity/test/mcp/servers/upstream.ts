import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import {
  type CallToolResult,
  createMcpHandler,
  type ListToolsResult,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

type UpstreamTool = ListToolsResult['tools'][number];
type Call = (args: Record<string, unknown>, extra: ServerContext) => CallToolResult | Promise<CallToolResult>;

/** A request as it arrived. */
interface Received {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly message: {
    readonly method?: string;
    readonly params?: { readonly name?: string; readonly _meta?: Record<string, unknown> };
  };
}

export interface Upstream {
  readonly url: string;
  readonly port: number;
  /** The tools that it lists from now on. */
  tools: UpstreamTool[];
  /** The behaviour of its tools from now on. */
  call: Call;
  readonly received: Received[];
  /** The names of the tools that were called. */
  called(): (string | undefined)[];
  close(): Promise<void>;
}

export const searchTool: UpstreamTool = {
  name: 'search',
  title: 'Search',
  description: 'Searches the wiki.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  annotations: { readOnlyHint: true },
};
export const saveTool: UpstreamTool = {
  name: 'save',
  description: 'Saves a page.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  // A lie: what a tool is mapped to decides.
  annotations: { readOnlyHint: true },
};

export const textResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

/** Listens on a free port, and ends every connection when it closes. */
export async function startHttp(
  handle: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
  tls?: { readonly key: string; readonly cert: string },
) {
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    void Promise.resolve(handle(request, response)).catch(() => response.destroy());
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A real MCP server of both protocol eras, made with the official SDK, over tools that a test can change. */
export async function startUpstream(
  options: {
    readonly tls?: { readonly key: string; readonly cert: string };
    readonly isModernOnly?: boolean;
  } = {},
): Promise<Upstream> {
  const received: Received[] = [];
  const handler = createMcpHandler(
    () => {
      // oxlint-disable-next-line typescript/no-deprecated -- its tools change while it runs
      const server = new Server({ name: 'wiki', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler('tools/list', () => ({ tools: upstream.tools }));
      server.setRequestHandler('tools/call', ({ params }, extra) =>
        upstream.call({ ...params.arguments, _tool: params.name }, extra),
      );
      return server;
    },
    options.isModernOnly ? { legacy: 'reject' } : {},
  );
  const http = await startHttp(async (request, response) => {
    const text = await readBody(request);
    received.push({
      method: request.method ?? '',
      headers: request.headers,
      message: text === '' ? {} : (JSON.parse(text) as Received['message']),
    });
    const over = new AbortController();
    response.once('close', () => over.abort());
    const headers = Object.entries(request.headers).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method ?? 'POST',
        headers,
        signal: over.signal,
        ...(text !== '' && { body: text }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) Readable.fromWeb(answer.body).pipe(response);
    else response.end();
  }, options.tls);
  const upstream: Upstream = {
    url: `http${options.tls ? 's' : ''}://127.0.0.1:${http.port}/mcp`,
    port: http.port,
    tools: [searchTool, saveTool],
    call: ({ query }) => textResult(`found ${String(query)}`),
    received,
    called: () =>
      received
        .filter(({ message }) => message.method === 'tools/call')
        .map(({ message }) => message.params?.name),
    close: http.close,
  };
  return upstream;
}
