import { openFixture } from '../../fixture.js';
import { type BenchIdentity, startBenchIdentity } from '../../identity.js';
import { load, type LoadResult } from '../../load.js';
import type { ServiceProcess } from '../../service-process.js';

/** The scopes of an administrator's agent, which sees nine tools. */
const SCOPES = ['user:read', 'crawl:read', 'crawl:write', 'crawl:delete'];
const TOKENS = 1_000;
/** Never called: the measured tools need no other service. */
const NO_SERVICE = 'http://127.0.0.1:9';

/** The headers that current clients send. */
const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
export const messages = {
  list: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  call: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } },
} as const;

export interface Fixture {
  readonly identity: BenchIdentity;
  readonly tokens: readonly string[];
  stop(): Promise<void>;
}

/**
 * Starts identity with its own database, and creates the load's tokens.
 *
 * @param more - additional environment variables.
 */
export const startFixture = (more: NodeJS.ProcessEnv = {}): Promise<Fixture> =>
  openFixture(async ({ postgres, keep }) => {
    const environment = {
      CRAWL_URL: NO_SERVICE,
      // Requests are counted against the limit, but never reach it.
      MCP_REQUESTS_PER_MINUTE: '10000000',
      ...more,
    };
    const identity = keep(await startBenchIdentity(postgres, 'bench_identity', environment));
    const tokens = (await identity.createTokens(TOKENS, SCOPES)).map(({ accessToken }) => accessToken);
    return { identity, tokens };
  });

/** Requests one list of tools, as the load does. */
export async function requestList(
  { url }: Pick<ServiceProcess, 'url'>,
  token: string,
): Promise<{ readonly bytes: number; readonly tools: number }> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(messages.list),
  });
  const text = await response.text();
  const { result } = JSON.parse(text) as { readonly result: { readonly tools: readonly object[] } };
  return { bytes: Buffer.byteLength(text), tools: result.tools.length };
}

/** Sends the same requests to every server, bearers included, because parsing headers takes time everywhere. */
export const loadWith = (
  server: ServiceProcess,
  tokens: readonly string[],
  message: keyof typeof messages,
  end: { readonly seconds: number } | { readonly requests: number },
): Promise<LoadResult> =>
  load(`${server.url}/mcp`, { ...end, bearers: tokens, body: messages[message], headers });
