import type { Answer } from '@platform/testing';
import type { IdentityUnderTest } from '../../identity.js';
import { createCaller } from '../endpoint/endpoint.js';

/** Creates calls of the routes with which administrators manage MCP servers. */
export function createMounts(identity: IdentityUnderTest, session: string) {
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
  };
}

export interface MountedTool {
  readonly name: string;
  readonly mountedName: string | null;
  readonly state: string;
  readonly isInEffect: boolean;
  readonly scope: string | null;
  readonly effectiveScope: string | null;
  readonly hash: string | null;
  readonly flags: string[];
}

/** Creates an agent, which calls `/mcp`. */
export function createAgent(identity: IdentityUnderTest, token: string) {
  const { legacy, modern } = createCaller(identity, token);
  return {
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
  };
}

/** The rules of an operator who lets servers run on this machine. */
export const ALLOW_LOCAL = { MCP_SERVER_ALLOWED_TARGETS: '127.0.0.0/8' };
