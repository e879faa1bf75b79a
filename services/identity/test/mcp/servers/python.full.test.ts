import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describeWith, ensurePythonMcp, waitFor } from '@platform/testing';
import { type IdentityUnderTest, startIdentity } from '../../identity.js';
import { findFreePort } from '@platform/embedded';
import { ALLOW_LOCAL, createAgent, createMounts } from './platform.js';

/* A server that shares no code with the platform's client: the official Python SDK. */

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function startPython(mode: 'stateless' | 'sessions'): Promise<string> {
  const port = await findFreePort();
  const program = join(import.meta.dirname, 'fixtures/python-server.py');
  const child = spawn(await ensurePythonMcp(), [program, String(port), mode], { stdio: 'ignore' });
  closing.push(async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  await waitFor(async () => (await fetch(url)).status > 0, { what: 'the Python server' });
  return url;
}

describeWith('python-mcp', 'a server of the Python SDK', () => {
  let identity: IdentityUnderTest;
  let session: string;
  beforeAll(async () => {
    identity = await startIdentity({ environment: ALLOW_LOCAL });
    session = await identity.login();
  });
  afterAll(() => identity.close());

  test.each(['stateless', 'sessions'] as const)('is mounted, listed and called: %s', async (mode) => {
    const url = await startPython(mode);
    const mounts = createMounts(identity, session);
    const rules = [{ pattern: '*_search', scope: 'kb:read' }];
    const fields = { name: mode, credential: { kind: 'assertion' }, rules };
    const id = await mounts.mount(url, fields);
    expect((await mounts.call('POST', `/${id}/test`)).body).toMatchObject({ isUsable: true, tools: 2 });
    await mounts.call('POST', `/${id}/refresh`);
    await mounts.approveAll(id, { wiki_search: null, failing: 'semantic:write' });
    const token = await identity.createToken(session, { scopes: ['kb:read', 'semantic:write'] });
    const agent = createAgent(identity, token.accessToken);
    expect(await agent.listNames()).toEqual([`${mode}__failing`, `${mode}__wiki_search`]);
    const found = await agent.callModern(`${mode}__wiki_search`, { query: 'cats' });
    expect(found.result.content[0].text).toBe('found cats, at most 10');
    expect((await agent.call(`${mode}__wiki_search`, { limit: 'x' })).result.isError).toBe(true);
    expect((await agent.call(`${mode}__failing`, { query: 'a' })).result.isError).toBe(true);
    const { server } = (await mounts.call('GET', `/${id}`)).body;
    expect(server).toMatchObject({ refreshFault: null, protocolVersion: expect.stringMatching(/^202\d-/) });
    await mounts.call('DELETE', `/${id}`);
  });
});
