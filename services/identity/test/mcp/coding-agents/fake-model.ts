import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/*
 * Stands in for the model of a coding agent, and for nothing else: it asks for one call of the tool `whoami`, and then
 * repeats what the tool answered. It speaks as much of Anthropic's Messages API and of OpenAI's Responses API as the
 * agents need.
 */

interface MessagesRequest {
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly { readonly content: unknown }[];
}

interface ResponsesRequest {
  readonly tools?: readonly {
    readonly name?: string;
    readonly tools?: readonly { readonly name: string }[];
  }[];
  readonly input: readonly { readonly type: string; readonly output?: unknown }[];
}

type Event = Readonly<Record<string, unknown>> & { readonly type: string };

function sendEvents(response: ServerResponse, events: readonly Event[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}

const isToolResult = (part: { readonly type?: string }): boolean => part.type === 'tool_result';

/** Anthropic's Messages API. */
function answerMessage({ tools = [], messages }: MessagesRequest): Event[] {
  const results = messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.filter(isToolResult) : [],
  );
  const tool = tools.find(({ name }) => name.endsWith('whoami'));
  const isCall = results.length === 0 && tool !== undefined;
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'message', type: 'message', role: 'assistant', model: 'fake', content: [], usage };
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    {
      type: 'content_block_start',
      index: 0,
      content_block: isCall
        ? { type: 'tool_use', id: 'call', name: tool.name, input: {} }
        : { type: 'text', text: '' },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: isCall
        ? { type: 'input_json_delta', partial_json: '{}' }
        : { type: 'text_delta', text: JSON.stringify(results) },
    },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage,
    },
    { type: 'message_stop' },
  ];
}

/** OpenAI's Responses API. */
function answerResponse({ tools = [], input }: ResponsesRequest): Event[] {
  const results = input.filter(({ type }) => type === 'function_call_output').map(({ output }) => output);
  const namespace = tools.find((group) => group.tools?.some(({ name }) => name === 'whoami'))?.name;
  const item =
    results.length === 0 && namespace !== undefined
      ? { type: 'function_call', id: 'call', call_id: 'call', namespace, name: 'whoami', arguments: '{}' }
      : {
          type: 'message',
          id: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: JSON.stringify(results), annotations: [] }],
        };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const response = { id: 'response', object: 'response', status: 'completed', output: [item], usage };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ];
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  if (request.url?.startsWith('/v1/messages?') || request.url === '/v1/messages')
    sendEvents(response, answerMessage(JSON.parse(body) as MessagesRequest));
  else if (request.url === '/v1/responses')
    sendEvents(response, answerResponse(JSON.parse(body) as ResponsesRequest));
  else response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
}

export async function startFakeModel() {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
