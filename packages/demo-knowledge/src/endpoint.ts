import { createServer, type Server } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type OAuthTokenVerifier, requireBearerAuth } from '@modelcontextprotocol/server';
import type { createIngest } from './ingest.js';
import type { Store } from './store.js';
import { createKnowledgeServer, type LinkToRun } from './tools.js';

/**
 * Creates the HTTP server: `/mcp`, in both eras of the protocol and without state, for callers with a valid assertion,
 * `/documents` for workers, and `/health/ready`.
 */
export function createEndpoint(deps: {
  readonly verifier: OAuthTokenVerifier;
  readonly store: Store;
  readonly toLink: LinkToRun;
  readonly ingest: ReturnType<typeof createIngest>;
  readonly log: (line: string) => void;
}): Server {
  const { verifier, store, toLink, ingest, log } = deps;
  const requireAssertion = requireBearerAuth({ verifier });
  const mcp = createMcpHandler(
    ({ authInfo }) => {
      if (!authInfo) throw new TypeError('a request without a caller');
      return createKnowledgeServer({ store, toLink }, authInfo);
    },
    { onerror: (error) => log(error.message) },
  );
  const handle = toNodeHandler({
    async fetch(request, options) {
      const caller = await requireAssertion(request);
      return caller instanceof Response ? caller : mcp.fetch(request, { ...options, authInfo: caller });
    },
  });
  // oxfmt-ignore
  return createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/mcp') {
      // The adapter's types lack `undefined` under exactOptionalPropertyTypes.
      void handle(request as Parameters<typeof handle>[0], response);
      return;
    }
    if (path === '/documents') {
      void ingest(request, response);
      return;
    }
    const isHealth = path === '/health/ready';
    response.writeHead(isHealth ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isHealth ? { status: 'ready' } : { error: 'Not found' }));
  });
}
