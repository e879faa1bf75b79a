import type { Call } from '../../load/call.js';
import { load, type LoadEnd } from '../../load/load.js';
import type { Fixture } from '../../runner/fixture.js';
import { startIdentity } from '../../servers/identity.js';
import type { NodeServer } from '../../servers/process.js';

const TOKENS = 1_000;
/** The headers that current clients send. */
const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
const messages = {
  list: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  call: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } },
} as const;

/** Starts identity, and creates the load's tokens, which see nine tools. */
export async function startEndpoint(fixture: Fixture) {
  const identity = await startIdentity(fixture, 'bench_identity', {
    // Never called: the measured tools need no other service.
    CRAWL_URL: 'http://127.0.0.1:9',
    // Requests are counted against the limit, but never reach it.
    MCP_REQUESTS_PER_MINUTE: '10000000',
    MCP_SERVER_ALLOWED_TARGETS: '127.0.0.0/8',
  });
  const scopes = ['user:read', 'crawl:read', 'crawl:write', 'crawl:delete'];
  return { ...identity, tokens: await identity.createTokens(TOKENS, { scopes }) };
}

/** Lists tools or calls `whoami`. Every server gets the bearers, because parsing headers takes time everywhere. */
export async function loadWith(
  { url }: NodeServer,
  tokens: readonly string[],
  message: keyof typeof messages,
  end: LoadEnd,
): Promise<number> {
  const calls = tokens.map((bearer): Call => ({ bearer, body: messages[message], headers }));
  return (await load(`${url}/mcp`, calls, end)).requestsPerSecond;
}

/** Requests one list of tools, as the load does. */
export async function requestList({ url }: NodeServer, token = '') {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(messages.list),
  });
  const text = await response.text();
  const { result } = JSON.parse(text) as { readonly result: { readonly tools: readonly object[] } };
  return { bytes: Buffer.byteLength(text), tools: result.tools.length };
}
