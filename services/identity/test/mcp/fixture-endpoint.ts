import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { authPlugin, createIdentityClient } from '@platform/auth';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { AppError, createApp, createLogger, standardErrors, systemClock } from '@platform/service-kit';
import { createToolEndpoint } from '../../src/features/mcp/endpoint.js';
import { mcpRoutes } from '../../src/features/mcp/routes.js';
import type { CreateServer } from '../../src/features/mcp/protocol-handler.js';
import { READ_ONLY, type Tool } from '../../src/features/mcp/tool.js';
import { serviceClient } from '../identity.js';
import {
  fixtureTools,
  getPrompt,
  listPrompts,
  listResources,
  listTemplates,
  readResource,
} from './conformance-fixtures.js';

const fixture = (name: string, call: Tool['call']): Tool => ({
  name,
  title: name,
  description: 'For the conformance suite.',
  inputSchema: { type: 'object', properties: {} },
  outputSchema: { type: 'object' },
  annotations: READ_ONLY,
  scopes: [],
  isAdminOnly: false,
  call,
});

/** The tools that the suite calls, as far as tools of this platform can be like them: the registry's. */
const registered = [
  fixture('test_simple_text', async () => ({ text: 'This is a simple text response for testing.' })),
  fixture('test_error_handling', () => {
    throw new AppError({ status: 400, code: 'TEST', message: 'This tool intentionally returns an error' });
  }),
  fixture('test_tool_with_progress', async (_args, { report }) => {
    for (const progress of [0, 50, 100]) {
      await report({ progress, total: 100 });
      await delay(50);
    }
    return { text: 'done' };
  }),
];

/** The platform's server with all else that the suite asks for. */
const withFixtures =
  (create: CreateServer): CreateServer =>
  (caller) => {
    const server = create(caller);
    server.registerCapabilities({ prompts: {}, resources: { subscribe: true }, completions: {}, logging: {} });
    // The platform's own handler, for what is in the registry. The SDK has no public way to ask for it.
    const callRegistered = server['_getRequestHandler']('tools/call');
    server.setRequestHandler('tools/call', async ({ method, params }, extra) => {
      const call = fixtureTools[params.name];
      if (call) return call(extra);
      return (await callRegistered?.({ jsonrpc: '2.0', id: extra.mcpReq.id, method, params }, extra)) as CallToolResult;
    });
    server.setRequestHandler('prompts/list', listPrompts);
    server.setRequestHandler('prompts/get', ({ params }, extra) => getPrompt(params.name, params.arguments ?? {}, extra));
    server.setRequestHandler('resources/list', listResources);
    server.setRequestHandler('resources/templates/list', listTemplates);
    server.setRequestHandler('resources/read', ({ params }) => readResource(params.uri));
    server.setRequestHandler('resources/subscribe', () => ({}));
    server.setRequestHandler('resources/unsubscribe', () => ({}));
    server.setRequestHandler('completion/complete', () => ({ completion: { values: [], total: 0, hasMore: false } }));
    server.setRequestHandler('logging/setLevel', () => ({}));
    return server;
  }; // prettier-ignore

/** The suite's valid `Origin` is that of the endpoint, which has to know it before it listens. */
async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/** The endpoint as identity has it over other tools. It puts in the token that the suite doesn't send. */
export async function startFixtureEndpoint(identityUrl: string, token: string) {
  const log = createLogger('fixtures', 'silent');
  const { id: clientId, secret: clientSecret } = serviceClient;
  const identity = createIdentityClient({ identityUrl, clientId, clientSecret, clock: systemClock });
  const { app } = await createApp({
    service: 'fixtures',
    title: 'Fixtures',
    description: 'A service for tests.',
    version: '0.0.0',
    errors: standardErrors,
    log,
  });
  app.addHook('onRequest', (request, _reply, next) => {
    request.headers.authorization = `Bearer ${token}`;
    next();
  });
  const port = await findFreePort();
  const publicUrl = `http://localhost:${port}`;
  await app.register(authPlugin, {
    issuer: 'workspace-platform',
    audience: 'identity',
    keySet: identity.keySet,
    liveness: identity.liveness,
    clock: systemClock,
    clockToleranceMs: 60_000,
    publicUrl,
  });
  const endpoint = createToolEndpoint({ tools: registered, recordCall: () => undefined, log, version: '0' });
  const withAll = { ...endpoint, createServer: withFixtures(endpoint.createServer) };
  mcpRoutes(app, { endpoint: withAll, countRequest: () => undefined, publicUrl, log });
  await identity.start();
  await app.listen({ host: '127.0.0.1', port });
  return {
    url: `${publicUrl}/mcp`,
    async close() {
      await app.close();
      await identity.close();
    },
  };
}
