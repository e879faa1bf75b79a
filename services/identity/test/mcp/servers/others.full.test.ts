import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/server';
import { findFreePort } from '@platform/embedded';
import { describeWith, ensurePythonMcp, waitFor } from '@platform/testing';
import { createAgent, useMounts } from './platform.js';

/* Servers of others: the official reference servers, as their packages come, and one of the Python SDK. */

const site = await useMounts();
const { mounts } = site;
const agent = createAgent(site.identity, site.session);
const folder = await mkdtemp(join(tmpdir(), 'platform-servers-'));
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(() => rm(folder, { recursive: true }));

const findProgram = (manifest: string): string => join(dirname(fileURLToPath(manifest)), 'dist/index.js');
const everything = findProgram(import.meta.resolve('@modelcontextprotocol/server-everything/package.json'));
const filesystem = findProgram(import.meta.resolve('@modelcontextprotocol/server-filesystem/package.json'));
const memory = findProgram(import.meta.resolve('@modelcontextprotocol/server-memory/package.json'));

/** Starts a server, and waits until it answers at the port. @returns its URL. */
async function startServer(program: string, args: readonly string[], port: number): Promise<string> {
  const env = { PATH: process.env['PATH'], PORT: String(port) };
  const child = spawn(program, args, { env, stdio: 'ignore' });
  closing.push(async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  await waitFor(async () => (await fetch(url)).status > 0, { what: 'the server' });
  return url;
}

/** Offers the tools of a server that speaks stdio over Streamable HTTP. */
async function bridge(args: string[], env: Record<string, string> = {}): Promise<string> {
  const client = new Client({ name: 'bridge', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stderr: 'ignore',
  });
  await client.connect(transport);
  closing.push(() => client.close());
  site.upstream.tools = (await client.listTools()).tools as unknown as ListToolsResult['tools'];
  site.upstream.call = async ({ _tool: name, ...fields }) =>
    (await client.callTool({ name: String(name), arguments: fields })) as CallToolResult;
  return site.upstream.url;
}

test('everything works over its own Streamable HTTP with sessions', async () => {
  const port = await findFreePort();
  const url = await startServer(process.execPath, [everything, 'streamableHttp'], port);
  const id = await mounts.mountInEffect(url, { echo: 'kb:read', 'get-tiny-image': 'kb:read' });
  expect(await mounts.get(id)).toMatchObject({
    refreshFault: null,
    protocolVersion: expect.stringMatching(/^2025-/),
  });
  expect(await agent.getText('wiki__echo', { message: 'hello' })).toContain('hello');
  const { result } = await agent.call('wiki__get-tiny-image');
  expect((result.content as { type: string }[]).map(({ type }) => type)).toContain('image');
  expect((await agent.call('wiki__echo', { message: 1 })).result.isError).toBe(true);
});

test('filesystem reads a file of its folder', async () => {
  await writeFile(join(folder, 'page.md'), '# Cats\n');
  await mounts.mountInEffect(await bridge([filesystem, folder]), { read_text_file: 'kb:read' });
  expect(await agent.getText('wiki__read_text_file', { path: join(folder, 'page.md') })).toBe('# Cats\n');
});

test('memory writes and reads its graph', async () => {
  const url = await bridge([memory], { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') });
  await mounts.mountInEffect(url, { create_entities: 'semantic:write', search_nodes: 'kb:read' });
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }];
  expect((await agent.call('wiki__create_entities', { entities })).result.isError).toBeUndefined();
  expect(await agent.getText('wiki__search_nodes', { query: 'Ada' })).toContain('writes programs');
});

describeWith('python-mcp', 'the Python SDK', () => {
  test('its server is mounted, listed and called', async () => {
    const port = await findFreePort();
    const program = join(import.meta.dirname, 'fixtures/python-server.py');
    const url = await startServer(await ensurePythonMcp(), [program, String(port)], port);
    const id = await mounts.mount(url, { credential: { kind: 'assertion' } });
    expect(await mounts.test(id)).toMatchObject({ isUsable: true, tools: 2 });
    await mounts.refresh(id);
    await mounts.approveAll(id, { search: 'kb:read', failing: 'semantic:write' });
    expect(await agent.getText('wiki__search', { query: 'cats' })).toBe('found cats, at most 10');
    for (const [tool, args] of [
      ['wiki__search', { limit: 'x' }],
      ['wiki__failing', { query: 'a' }],
    ] as const)
      expect((await agent.call(tool, args)).result.isError).toBe(true);
    expect((await mounts.get(id)).refreshFault).toBeNull();
  });
});
