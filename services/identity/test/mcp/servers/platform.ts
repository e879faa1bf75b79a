import type { Answer } from '@platform/testing';
import { type IdentityUnderTest, startIdentity } from '../../identity.js';
import { createCaller } from '../endpoint/endpoint.js';
import { startUpstream, type Upstream } from './upstream.js';

type Callable = Pick<IdentityUnderTest, 'call'>;

/** Creates calls of the routes with which administrators manage MCP servers. */
export function createMounts(identity: Callable, session: string) {
  const call = (method: string, path = '', body?: object): Promise<Answer> =>
    identity.call(method, `/api/v1/mcp-servers${path}`, { token: session, ...(body && { body }) });

  async function mount(url: string, fields: object = {}): Promise<string> {
    const { status, text, body } = await call('POST', '', { name: 'wiki', url, ...fields });
    if (status !== 201) throw new Error(`create answered ${status}: ${text}`);
    return body.server.id as string;
  }
  const listTools = async (id: string) =>
    (await call('GET', `/${id}/tools?limit=100`)).body.data as MountedTool[];
  const decide = (id: string, tools: object[]) => call('PATCH', `/${id}/tools`, { tools });
  async function approveAll(id: string, scopes: Record<string, string | null>): Promise<Answer> {
    const tools = await listTools(id);
    return decide(
      id,
      tools
        .filter(({ name }) => name in scopes)
        .map(({ name, hash }) => ({ name, scope: scopes[name] ?? null, approve: hash })),
    );
  }
  return {
    call,
    mount,
    listTools,
    decide,
    approveAll,
    /** Tests how a server can be used. @returns what an administrator sees. */
    test: async (id: string) => (await call('POST', `/${id}/test`)).body,
    refresh: (id: string) => call('POST', `/${id}/refresh`),
    async get(id: string) {
      return (await call('GET', `/${id}`)).body.server;
    },
    /** Mounts a server, and puts these tools in effect. */
    async mountInEffect(url: string, scopes: Record<string, string>, fields: object = {}): Promise<string> {
      const id = await mount(url, fields);
      const refreshed = await call('POST', `/${id}/refresh`);
      if (refreshed.status !== 200)
        throw new Error(`refresh answered ${refreshed.status}: ${refreshed.text}`);
      const { status, text } = await approveAll(id, scopes);
      if (status !== 200) throw new Error(`decide answered ${status}: ${text}`);
      return id;
    },
    async removeAll(): Promise<void> {
      for (const { id } of (await call('GET', '?limit=100')).body.data as { id: string }[])
        await call('DELETE', `/${id}`);
    },
  };
}

interface MountedTool {
  readonly name: string;
  readonly hash: string | null;
}

/** Creates an agent, which calls `/mcp`. */
export function createAgent(identity: Callable, token: string) {
  const { legacy, modern } = createCaller(identity, token);
  return {
    modern,
    async listNames(headers: Record<string, string> = {}): Promise<string[]> {
      const { body, text } = await legacy('tools/list', undefined, headers);
      if (!body?.result) throw new Error(text);
      return (body.result.tools as { name: string }[]).map(({ name }) => name);
    },
    listMounted: async () =>
      ((await modern('tools/list')).body.result.tools as { name: string }[]).filter(({ name }) =>
        name.includes('__'),
      ),
    call: async (name: string, args: object = {}) =>
      (await legacy('tools/call', { name, arguments: args })).body,
    callModern: async (name: string, args: object = {}) =>
      (await modern('tools/call', { name, arguments: args })).body,
    /** Calls a tool. @returns the text of its result. */
    getText: async (name = 'wiki__search', args: object = { query: 'a' }): Promise<string> =>
      (await legacy('tools/call', { name, arguments: args })).body.result.content[0].text,
  };
}

/** The rules of an operator who lets servers run on this machine. */
export const ALLOW_LOCAL = { MCP_SERVER_ALLOWED_TARGETS: '127.0.0.0/8' };

/** Gives the tests of a file an identity that may call local servers, and each test its own upstream server. */
export async function useMounts(environment: NodeJS.ProcessEnv = {}) {
  const identity = await startIdentity({ environment: { ...ALLOW_LOCAL, ...environment } });
  const session = await identity.login();
  const mounts = createMounts(identity, session);
  let upstream: Upstream;

  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(async () => {
    await mounts.removeAll();
    await upstream.close();
  });
  afterAll(() => identity.close());

  return {
    identity,
    session,
    mounts,
    /** The upstream server; a test that replaces it closes the previous one. */
    get upstream() {
      return upstream;
    },
    set upstream(replacement: Upstream) {
      upstream = replacement;
    },
    createAgentWith: async (...scopes: string[]) =>
      createAgent(identity, (await identity.createToken(session, { scopes })).accessToken),
  };
}
