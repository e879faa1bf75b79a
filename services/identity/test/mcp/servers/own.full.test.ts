import { type CallOptions, callUrl } from '@platform/testing';
import { admin, createIdentityDatabase } from '../../identity.js';
import { environmentFor, type Server, startServer } from '../../process/process.js';
import { ALLOW_LOCAL, createAgent, createMounts } from './platform.js';
import { type Seen, startStateful } from './stateful-server.js';

/* People with secrets of their own call through a process that is killed again and again. */

const PEOPLE = 20;
const CALLS = 1_000;
const WORKERS = 20;

test('MCP-53 1,000 mixed calls of 20 people over a process that is killed: no answer is another one’s', async () => {
  const database = await createIdentityDatabase();
  const environment = { ...environmentFor(database.url), ...ALLOW_LOCAL, MCP_SERVER_CALLS: '2000' };
  let server: Server = await startServer(environment);
  const upstream = await startStateful(({ 'x-api-key': key }) => String(key));
  try {
    const platform = {
      call: (method: string, path: string, options?: CallOptions) =>
        callUrl(server.url + path, method, options),
    };
    const login = async (credentials: object) =>
      (await platform.call('POST', '/api/v1/auth/login', { body: credentials })).body.accessToken as string;
    const session = await login(admin);
    const credential = { kind: 'personal', header: 'x-api-key', value: 'for-lists' };
    const id = await createMounts(platform, session).mountInEffect(
      upstream.url,
      { search: 'kb:read' },
      { credential },
    );
    const people: { readonly key: string; readonly agent: ReturnType<typeof createAgent> }[] = [];
    for (let index = 0; index < PEOPLE; index += 1) {
      const person = { email: `person-${index}@example.com`, password: 'correct-horse-battery' };
      await platform.call('POST', '/api/v1/users', { token: session, body: { ...person, fullName: 'Ada' } });
      const token = await login(person);
      const key = `key of ${index}`;
      const path = `/api/v1/mcp-servers/${id}/my-credential`;
      expect((await platform.call('PUT', path, { token, body: { value: key } })).status).toBe(200);
      people.push({ key, agent: createAgent(platform, token) });
    }
    let [answered, mixed, kills] = [0, 0, 0];
    let restarting: Promise<void> | undefined;
    async function kill(): Promise<void> {
      kills += 1;
      server.child.kill('SIGKILL');
      await server.exit;
      server = await startServer(environment);
    }
    async function callOnce(index: number): Promise<void> {
      const person = people[(index * 7) % PEOPLE] as (typeof people)[number];
      const text = await person.agent.getText().catch(() => undefined);
      if (text === undefined) return;
      const { begun, caller } = JSON.parse(text) as Seen<string>;
      answered += 1;
      if (begun !== person.key || caller !== person.key) mixed += 1;
    }
    let next = 0;
    async function work(): Promise<void> {
      for (;;) {
        const index = next++;
        if (index >= CALLS) return;
        if (index % 250 === 125) restarting = kill();
        await callOnce(index);
        await restarting;
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, work));
    expect([mixed, kills]).toEqual([0, 4]);
    expect(answered).toBeGreaterThan(CALLS - 4 * 2 * WORKERS);
  } finally {
    server.child.kill('SIGKILL');
    await server.exit;
    await upstream.close();
    await database.drop();
  }
});
