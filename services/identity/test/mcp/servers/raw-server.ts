import { startHttp } from './upstream.js';

/* A server that answers with exactly the given bytes, as no SDK would let it. */

const INFO = '{"name":"raw","version":"1"}';

/** The answers of a server by method: results as JSON, or what stands in the message instead of `"result":…`. */
export interface RawAnswers {
  readonly isModern: boolean;
  /** Answers calls with an event stream. */
  readonly isStream?: boolean;
  /** The members of the handshake's result that follow the required ones, each with a comma before it. */
  readonly handshake?: string;
  /** The pages of the list by cursor, the first one by ''. */
  readonly pages: Readonly<Record<string, string>>;
  readonly call?: string;
  /** What follows each result in the message, with a comma before it. */
  readonly afterResult?: string;
  /** Events before the response to a call, as JSON. */
  readonly events?: readonly string[];
}

interface RawRequest {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly cursor?: string };
}

function toResult({ isModern, handshake = '', pages, call }: RawAnswers, { method, params }: RawRequest) {
  const type = isModern ? '"resultType":"complete",' : '';
  const common = `"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":${INFO}}${handshake}`;
  if (method === 'server/discover' && isModern)
    return `{${type}"ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],${common}}`;
  if (method === 'initialize') return `{"protocolVersion":"2025-11-25","serverInfo":${INFO},${common}}`;
  if (method === 'tools/list') return `{${type}${pages[params?.cursor ?? '']}}`;
  return method === 'tools/call' && call !== undefined ? `{${type}${call}}` : undefined;
}

/** Each line is one of the event. */
const toEvent = (message: string): string => `${message.replaceAll(/^/gm, 'data: ')}\n\n`;

export async function startRaw(answers: RawAnswers) {
  const bodies: string[] = [];
  const http = await startHttp(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    bodies.push(text);
    const message = JSON.parse(text || '{}') as RawRequest;
    const result = toResult(answers, message);
    const answer = `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${result}${answers.afterResult ?? ''}}`;
    const isEvent = answers.isStream === true && message.method === 'tools/call';
    if (message.id === undefined) response.writeHead(202).end();
    else if (result === undefined) response.writeHead(404).end();
    else
      response
        .writeHead(200, { 'content-type': isEvent ? 'text/event-stream' : 'application/json' })
        .end(isEvent ? [...(answers.events ?? []), answer].map(toEvent).join('') : answer);
  });
  return { bodies, ...http, url: `http://127.0.0.1:${http.port}/mcp` };
}
