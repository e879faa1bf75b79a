import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '@platform/embedded';
import { authPlugin, createIdentityClient } from '@platform/auth';
import { ProtocolError, type ServerContext } from '@modelcontextprotocol/server';
import { AppError, createApp, createLogger, standardErrors, systemClock } from '@platform/service-kit';
import { createToolEndpoint } from '../../../src/mcp/endpoint/endpoint.js';
import { mcpRoutes } from '../../../src/mcp/endpoint/routes.js';
import type { Exchange, Method, Methods } from '../../../src/mcp/endpoint/methods.js';
import type { ProtocolEra } from '../../../src/mcp/endpoint/protocol-era.js';
import { type Json, RpcFault } from '../../../src/mcp/endpoint/rpc-message.js';
import { READ_ONLY, type Tool } from '../../../src/mcp/endpoint/tool.js';
import { serviceClient } from '../../identity.js';
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

type Respond = (params: Json, context: ServerContext) => object | Promise<object>;

/** The part of the SDK's context that the fixtures read. */
function toServerContext({ request: { id, method, params } }: Exchange): ServerContext {
  const { _meta, inputResponses, requestState } = params;
  const mcpReq = { id, method, envelope: _meta, inputResponses, requestState: () => requestState };
  return { mcpReq: { ...mcpReq, log: () => Promise.resolve() } } as unknown as ServerContext;
}

const UNCACHEABLE = new Set(['tools/call', 'prompts/get', 'completion/complete']);
const MISSING_CAPABILITY = -32_021;

/** Makes a method of a fixture, whose results get what every result of the stateless revision has. */
const toMethod =
  (era: ProtocolEra, respond: Respond): Method =>
  async (exchange) => {
    const { method, params } = exchange.request;
    const cache = UNCACHEABLE.has(method) ? {} : { ttlMs: 0, cacheScope: 'private' };
    try {
      const result = await respond(params, toServerContext(exchange));
      return JSON.stringify(era === 'modern' ? { resultType: 'complete', ...cache, ...result } : result);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      const { code, message, data } = error;
      throw new RpcFault(code, message, { status: code === MISSING_CAPABILITY ? 400 : 200, data: data as object });
    }
  }; // oxfmt-ignore

const fixtures: Readonly<Record<string, Respond>> = {
  'prompts/list': listPrompts,
  'prompts/get': ({ name, arguments: args }, context) => getPrompt(name as string, (args ?? {}) as Record<string, string>, context),
  'resources/list': listResources,
  'resources/templates/list': listTemplates,
  'resources/read': ({ uri }) => readResource(uri as string),
  'completion/complete': () => ({ completion: { values: [], total: 0, hasMore: false } }),
}; // oxfmt-ignore
const legacyFixtures = ['resources/subscribe', 'resources/unsubscribe', 'logging/setLevel'];

/** The platform's methods with all else that the suite asks for. */
function withFixtures(methods: Methods): Methods {
  const extend = (era: ProtocolEra, more: readonly string[]): Map<string, Method> => {
    const callOwn = methods[era].get('tools/call');
    const callTool: Method = (exchange) => {
      const call = fixtureTools[exchange.request.params['name'] as string];
      return call
        ? toMethod(era, (_params, context) => call(context))(exchange)
        : (callOwn?.(exchange) ?? '');
    };
    const declareAll: Method = async (exchange) => {
      const own = JSON.parse(String((await methods[era].get('server/discover')?.(exchange)) ?? '{}'));
      return JSON.stringify({
        ...own,
        capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
      });
    };
    return new Map<string, Method>([
      ...methods[era],
      ...(era === 'modern' ? [['server/discover', declareAll] as const] : []),
      ...Object.entries(fixtures).map(([name, respond]) => [name, toMethod(era, respond)] as const),
      ...more.map((name) => [name, () => '{}'] as const),
      ['tools/call', callTool],
    ]);
  };
  return { legacy: extend('legacy', legacyFixtures), modern: extend('modern', []) };
}

/** The endpoint as identity has it over other tools. It puts in the token that the suite doesn't send. */
export async function startFixtureEndpoint(identityUrl: string, token: string) {
  const log = createLogger('fixtures', 'silent');
  const { id: clientId, secret: clientSecret } = serviceClient;
  const identity = createIdentityClient({
    identityUrl,
    clientId,
    clientSecret,
    timeoutMs: 5_000,
    clock: systemClock,
  });
  const { app } = await createApp({
    service: 'fixtures',
    title: 'Fixtures',
    description: 'A service for tests.',
    errors: standardErrors,
    log,
  });
  app.addHook('onRequest', (request, _reply, next) => {
    request.headers.authorization = `Bearer ${token}`;
    next();
  });
  // The suite's valid `Origin` is that of the endpoint, which has to know it before it listens.
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
  const endpoint = createToolEndpoint({
    tools: registered,
    recordCall: () => undefined,
    observeCall: (_tool, _context, call) => call(),
    log,
    version: '0',
  });
  const withAll = { ...endpoint, methods: withFixtures(endpoint.methods) };
  mcpRoutes(app, {
    endpoint: withAll,
    recordStep: () => undefined,
    countRequest: () => undefined,
    publicUrl,
    log,
  });
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
