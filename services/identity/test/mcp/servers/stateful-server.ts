import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { startHttp, textResult } from './upstream.js';

/** What a call answers: who began the session that it belongs to, and who calls. */
export interface Seen<Who> {
  readonly begun: Who | undefined;
  readonly caller: Who;
}

/** How somebody is turned away. */
export class Refusal {
  constructor(
    readonly status: number,
    readonly challenge?: string,
  ) {}
}

/**
 * A server of an earlier revision whose session belongs to whoever began it. It answers who that was, and who calls.
 *
 * @param toCaller - returns undefined for somebody whom the server does not know: they are answered with 401.
 */
export async function startStateful(
  toCaller: (headers: IncomingHttpHeaders) => unknown,
  /** Answers requests for other paths. @returns false to leave one to the server. */
  answer?: (request: IncomingMessage, response: ServerResponse) => boolean,
) {
  const sessions = new Map<string, unknown>();
  const server = await startHttp(async (request, response) => {
    if (answer?.(request, response)) return;
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const caller = await toCaller(request.headers);
    if (caller === undefined || caller instanceof Refusal) {
      const { status, challenge } = caller ?? new Refusal(401);
      response.writeHead(status, challenge === undefined ? {} : { 'www-authenticate': challenge }).end();
      return;
    }
    const { id, method, params } = JSON.parse(text || '{}') as { id?: number; method?: string; params?: object };
    const begun = sessions.get(String(request.headers['mcp-session-id']));
    const known: Record<string, () => object> = {
      initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } }),
      'tools/list': () => ({ tools: [{ name: 'search', inputSchema: { type: 'object' } }] }),
      'tools/call': () => textResult(JSON.stringify({ begun, caller, params })),
    };
    const result = known[method ?? '']?.();
    const sessionId = randomUUID();
    if (method === 'initialize') sessions.set(sessionId, caller);
    response.writeHead(id === undefined ? 202 : 200, {
      'content-type': 'application/json',
      ...(method === 'initialize' && { 'mcp-session-id': sessionId }),
    });
    const error = { code: -32_601, message: 'Method not found' };
    response.end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) }));
  }); // oxfmt-ignore
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    countSessions: () => sessions.size,
    close: server.close,
  };
}
