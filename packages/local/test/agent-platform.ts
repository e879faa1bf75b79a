import { makeDataDir, printed, startPlatform } from './platform.js';
import { connectors, type ToolClient } from './tool-client.js';

export const START_MS = 180_000;
export const CRAWL = '/api/v1/crawlingManager';
export const PATS = '/api/v1/personal-access-tokens';
/** The scopes of an agent that may use every tool. */
export const AGENT = [
  'user:read',
  'pat:read',
  'pat:write',
  'crawl:read',
  'crawl:write',
  'crawl:delete',
  'SEND_MAIL',
];

interface Answer {
  readonly status: number;
  // The tests examine responses of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

/** A platform with a signed-in administrator, and what the tests of agents do on it. */
export interface AgentPlatform {
  readonly inboxPort: number;
  /** The administrator's session. */
  readonly session: string;
  /** Calls the platform as the administrator, unless a `token` is given. */
  call(method: string, path: string, token?: string, body?: unknown): Promise<Answer>;
  login(email: string, password: string): Promise<string>;
  createToken(scopes: readonly string[], owner?: string): Promise<{ id: string; accessToken: string }>;
  /** Connects with the official client of that version, which is closed at the end. */
  connect(version: string, token: string): Promise<ToolClient>;
  close(): Promise<void>;
}

export async function startAgentPlatform(): Promise<AgentPlatform> {
  const dataDir = await makeDataDir();
  const platform = await startPlatform({ dataDir: dataDir.path });
  await platform.settled;
  const clients: ToolClient[] = [];
  let session = '';
  const getUrl = (path: string): string => `http://localhost:${platform.port}${path}`;

  async function call(method: string, path: string, token = session, body?: unknown): Promise<Answer> {
    const response = await fetch(getUrl(path), {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  const login = async (email: string, password: string): Promise<string> =>
    (await call('POST', '/api/v1/auth/login', '', { email, password })).body.accessToken as string;

  session = await login(printed(platform, 'Admin'), printed(platform, 'Password'));
  return {
    inboxPort: platform.inboxPort,
    session,
    call,
    login,
    async createToken(scopes, owner = session) {
      const { status, body } = await call('POST', PATS, owner, { name: 'agent', scopes });
      if (status !== 201) throw new Error(`create token answered ${status}`);
      return body.token as { id: string; accessToken: string };
    },
    async connect(version, token) {
      const connector = connectors.find(([name]) => name === version)?.[1];
      if (!connector) throw new Error(version);
      const client = await connector(getUrl('/mcp'), { authorization: `Bearer ${token}` });
      clients.push(client);
      return client;
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
      platform.child.kill('SIGTERM');
      await platform.exited;
      await dataDir.remove();
    },
  };
}
