import { fileURLToPath } from 'node:url';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/server';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { waitFor } from '@platform/testing';
import { startIdentity } from '../../identity.js';
import { findFreePort } from '@platform/embedded';
import { ALLOW_LOCAL, createAgent, createMounts } from './platform.js';
import { startUpstream } from './upstream.js';

/* The official reference servers, as their packages come. Those that speak stdio only are behind a bridge. */

const closing: (() => Promise<unknown>)[] = [];

const folder = await mkdtemp(join(tmpdir(), 'platform-reference-'));
const identity = await startIdentity({ environment: ALLOW_LOCAL });
const session = await identity.login();
const mounts = createMounts(identity, session);
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
  await identity.close();
  await rm(folder, { recursive: true });
});

/** The programs of the packages. */
const programs = {
  everything: join(
    dirname(fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/package.json'))),
    'dist/index.js',
  ),
  filesystem: join(
    dirname(fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-filesystem/package.json'))),
    'dist/index.js',
  ),
  memory: join(
    dirname(fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-memory/package.json'))),
    'dist/index.js',
  ),
};

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
  const upstream = await startUpstream();
  upstream.tools = (await client.listTools()).tools as unknown as ListToolsResult['tools'];
  upstream.call = async ({ _tool: name, ...fields }) =>
    (await client.callTool({ name: String(name), arguments: fields })) as CallToolResult;
  closing.push(upstream.close, () => client.close());
  return upstream.url;
}

test('everything works over its own Streamable HTTP with sessions', async () => {
  const port = await findFreePort();
  const child = spawn(process.execPath, [programs.everything, 'streamableHttp'], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: 'ignore',
  });
  closing.push(async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  });
  await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/mcp`)).status > 0, { what: 'the server' });
  const id = await mounts.mountInEffect(`http://127.0.0.1:${port}/mcp`, { echo: 'kb:read', 'get-tiny-image': 'kb:read' }, { name: 'everything' });
  const { server } = (await mounts.call('GET', `/${id}`)).body;
  expect(server).toMatchObject({ refreshFault: null, protocolVersion: expect.stringMatching(/^2025-/) });
  const agent = createAgent(identity, session);
  expect((await agent.listNames()).filter((name) => name.includes('__'))).toEqual(['everything__echo', 'everything__get-tiny-image']);
  const echoed = await agent.call('everything__echo', { message: 'hello' });
  expect(echoed.result.content[0].text).toContain('hello');
  const { result } = await agent.call('everything__get-tiny-image');
  expect((result.content as { type: string }[]).map(({ type }) => type)).toContain('image');
  expect((await agent.call('everything__echo', { message: 1 })).result.isError).toBe(true);
}); // prettier-ignore

test('filesystem reads a file of its folder', async () => {
  await writeFile(join(folder, 'page.md'), '# Cats\n');
  const url = await bridge([programs.filesystem, folder]);
  await mounts.mountInEffect(url, { read_text_file: 'kb:read' }, { name: 'files' });
  const agent = createAgent(identity, session);
  const { result } = await agent.call('files__read_text_file', { path: join(folder, 'page.md') });
  expect(result.content[0].text).toBe('# Cats\n');
  expect((await agent.call('files__read_text_file', { path: '/etc/passwd' })).result.isError).toBe(true);
});

test('memory writes and reads its graph, by their scopes', async () => {
  const url = await bridge([programs.memory], { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') });
  await mounts.mountInEffect(url, { create_entities: 'semantic:write', search_nodes: 'kb:read' }, { name: 'memory' });
  const writer = createAgent(identity, (await identity.createToken(session, { scopes: ['semantic:write'] })).accessToken);
  const reader = createAgent(identity, (await identity.createToken(session, { scopes: ['kb:read'] })).accessToken);
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }];
  expect((await reader.call('memory__create_entities', { entities })).result.isError).toBe(true);
  expect((await writer.call('memory__create_entities', { entities })).result.isError).toBeUndefined();
  const { result } = await reader.call('memory__search_nodes', { query: 'Ada' });
  expect(JSON.stringify(result)).toContain('writes programs');
}); // prettier-ignore
