import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort, startEmbeddedPostgres } from '@platform/embedded';
import { type BenchIdentity, startBenchIdentity } from '../../identity.js';
import { load, type LoadResult } from '../../load.js';
import { type ServiceProcess, startProcess } from '../../service-process.js';

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
export async function startFixture(more: NodeJS.ProcessEnv = {}): Promise<Fixture> {
  const dataDir = await mkdtemp(join(tmpdir(), 'platform-bench-'));
  // An fsync per commit would measure the disk. Everything else is configured as in production.
  const postgres = await startEmbeddedPostgres({
    dataDir,
    settings: { synchronous_commit: 'off' },
    isTemporary: true,
  });
  const identity = await startBenchIdentity(postgres, 'bench_identity', {
    CRAWL_URL: NO_SERVICE,
    // Requests are counted against the limit, but never reach it.
    MCP_REQUESTS_PER_MINUTE: '10000000',
    ...more,
  });
  const tokens = (await identity.createTokens(TOKENS, SCOPES)).map(({ accessToken }) => accessToken);
  return {
    identity,
    tokens,
    async stop() {
      await identity.stop();
      await postgres.stop();
    },
  };
}

/** Starts a program of this folder, by default on the server's core. */
export async function startProgram(name: string, core?: 'server' | 'load'): Promise<ServiceProcess> {
  const port = await findFreePort();
  const program = fileURLToPath(new URL(`${name}.js`, import.meta.url));
  const environment = { PATH: process.env.PATH, NODE_ENV: 'production' };
  return startProcess([program, String(port)], port, '/', environment, core);
}

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
