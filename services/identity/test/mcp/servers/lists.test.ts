import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createAgent, useMounts } from './platform.js';
import { type RawAnswers, startRaw } from './raw-server.js';

/* Lists, results and handshakes as real servers send them, against the letter of the protocol. */

const site = await useMounts();
const { identity, session, mounts } = site;
const agent = createAgent(identity, session);
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function start(answers: Partial<RawAnswers> & Pick<RawAnswers, 'pages'>) {
  const raw = await startRaw({ isModern: true, ...answers });
  closing.push(raw.close);
  return raw;
}

/** The definitions that callers see, by name. */
async function listOffered(): Promise<Record<string, object>> {
  const tools = (await agent.listMounted()) as { readonly name: string; annotations?: object }[];
  for (const tool of tools) delete tool.annotations;
  return Object.fromEntries(tools.map(({ name, ...tool }) => [name, tool]));
}

const object = { type: 'object' };

test.each([{ isModern: true }, { isModern: false }])(
  'MCP-34: a tool that cannot be used is left out with the reason, and the others work: %j',
  async ({ isModern }) => {
    const tools = [
      '{"name":"plain","inputSchema":{"type":"object"}}',
      '{"name":"nulls","title":null,"description":null,"inputSchema":{"type":"object","properties":null,"required":null},"outputSchema":null,"annotations":{"title":null,"readOnlyHint":null},"icons":null,"execution":null,"_meta":null}',
      '{"name":"missing_schema"}',
      '{"name":"empty_schema","inputSchema":{}}',
      '{"name":"untyped_schema","inputSchema":{"properties":{"any":true,"none":false}}}',
      '{"name":"list_output","inputSchema":{},"outputSchema":{"type":"array","items":{}}}',
      '{"name":"odd_output","inputSchema":{},"outputSchema":[{"type":"object"}]}',
      '{"name":"odd_members","title":7,"description":["a"],"annotations":"none","inputSchema":null}',
      '{"name":"plain","description":"another","inputSchema":{"type":"object"}}',
      '{"name":"a list","inputSchema":{"type":"object"}}',
      '{"inputSchema":{"type":"object"}}',
      '"text"',
      '{"name":"array_schema","inputSchema":{"type":"array"}}',
      '{"name":"bad_properties","inputSchema":{"type":"object","properties":{"a":null}}}',
      '{"name":"bad_required","inputSchema":{"type":"object","required":"a"}}',
      `{"name":"deep","inputSchema":{"type":"object","x":${'['.repeat(99)}${']'.repeat(99)}}}`,
      `{"name":"large","description":"${'a'.repeat(300_000)}"}`,
      '{"name":"last","inputSchema":{"type":"object"}}',
    ];
    const pages = { '': `"tools":[${tools.slice(0, 9).join()}],"nextCursor":"2"`, 2: `"tools":[${tools.slice(9).join(' ,\n')}],"nextCursor":null,"_meta":null` };
    const raw = await start({ isModern, pages, afterResult: ',"error":null', handshake: ',"instructions":null' });
    const leftOut = [
      { name: 'plain', reason: 'duplicate_name' },
      { name: 'a list', reason: 'invalid_name' },
      { name: null, reason: 'invalid_name' },
      { name: null, reason: 'invalid_name' },
      { name: 'array_schema', reason: 'invalid_input_schema' },
      { name: 'bad_properties', reason: 'invalid_input_schema' },
      { name: 'bad_required', reason: 'invalid_input_schema' },
      { name: 'deep', reason: 'too_large' },
      { name: 'large', reason: 'too_large' },
    ];
    const id = await mounts.mount(raw.url, { rules: [{ pattern: '*', scope: 'kb:read' }] });
    expect(await mounts.test(id)).toMatchObject({ isUsable: true, tools: 9, leftOut });
    expect((await mounts.refresh(id)).body).toMatchObject({ server: { leftOut, tools: { offered: 9 } } });
    const all = Object.fromEntries((await mounts.listTools(id)).map(({ name }) => [name, null]));
    expect((await mounts.approveAll(id, all)).status).toBe(200);
    expect(await listOffered()).toEqual({
      wiki__plain: { inputSchema: object },
      wiki__nulls: { inputSchema: object },
      wiki__missing_schema: { inputSchema: object },
      wiki__empty_schema: { inputSchema: object },
      wiki__untyped_schema: { inputSchema: { type: 'object', properties: { any: {}, none: { not: {} } } } },
      wiki__list_output: { inputSchema: object },
      wiki__odd_output: { inputSchema: object },
      wiki__odd_members: { inputSchema: object },
      wiki__last: { inputSchema: object },
    });
    // The official client of earlier revisions refuses a list as a whole.
    const client = new Client({ name: 'strict', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${identity.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${session}` } } }));
    expect((await client.listTools()).tools.filter(({ name }) => name.startsWith('wiki__'))).toHaveLength(9);
    await client.close();
    await mounts.call('PATCH', `/${id}`, { url: 'http://127.0.0.1:1/mcp' });
    expect((await mounts.get(id)).leftOut).toEqual([]);
  },
); // oxfmt-ignore

test('MCP-34: tools beyond two hundred are left out, and at most fifty are shown', async () => {
  const names = Array.from({ length: 300 }, (_value, index) => `tool_${index}`);
  const raw = await start({ pages: { '': `"tools":[${names.map((name) => `{"name":"${name}"}`).join()}]` } });
  const id = await mounts.mount(raw.url);
  const { tools, leftOut } = await mounts.test(id);
  expect([tools, leftOut.length, leftOut[0]]).toEqual([200, 50, { name: 'tool_200', reason: 'too_large' }]);
});

test('a list of nothing is empty, and one that is none is a fault', async () => {
  const pages = { '': '"tools":null' };
  const raw = await start({ pages });
  const id = await mounts.mount(raw.url);
  expect(await mounts.test(id)).toMatchObject({ isUsable: true, tools: 0 });
  for (const page of ['"tools":{}', '"tools":[],"nextCursor":2', '"other":[]']) {
    pages[''] = page;
    expect(await mounts.test(id)).toMatchObject({ isUsable: false, fault: 'invalid_answer' });
  }
});

test('MCP-34: a cursor that leads back is a fault of its own, and keeps the tools', async () => {
  const pages: Record<string, string> = { '': '"tools":[{"name":"search"}]', a: '"tools":[],"nextCursor":"b"', b: '"tools":[],"nextCursor":"a"' };
  const raw = await start({ pages });
  const id = await mounts.mountInEffect(raw.url, { search: 'kb:read' });
  pages[''] += ',"nextCursor":"a"';
  const { status, body } = await mounts.refresh(id);
  expect([status, body.error.code]).toEqual([502, 'REFRESH_FAILED']);
  expect(await mounts.get(id)).toMatchObject({ refreshFault: 'repeated_cursor', tools: { offered: 1 } });
  // No page is read twice.
  expect(raw.bodies.filter((text) => text.includes('"cursor"'))).toHaveLength(2);
}); // oxfmt-ignore

test.each([
  { isModern: true },
  { isModern: false },
  { isModern: true, isStream: true },
])('MCP-35: null in an optional member of a result is absence: %j', async (form) => {
  const raw = await start({
    ...form,
    pages: { '': '"tools":[{"name":"search","outputSchema":{"type":"object"}}]' },
    call: '"content":[ {"type":"text","text":"a","annotations":null,"_meta":null} ,{"type":"text","text":"b"}],"structuredContent":null,"isError":null,"_meta":null',
    afterResult: ',"error":null',
    events: ['{"jsonrpc":"2.0","method":"notifications/message","params":null}'],
  });
  await mounts.mountInEffect(raw.url, { search: 'kb:read' });
  const content = [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }];
  expect((await agent.call('wiki__search')).result).toEqual({ content });
}); // oxfmt-ignore

const NOT_UNDERSTOOD = {
  isError: true,
  content: [{ type: 'text', text: "The server wiki gave an answer that can't be understood." }],
};
test.each([
  ['"content":null', { content: [] }],
  ['"other":1', { content: [] }],
  ['"content":[7]', NOT_UNDERSTOOD],
  ['"content":{}', NOT_UNDERSTOOD],
])('a result with %s becomes %j', async (call, result) => {
  const raw = await start({ pages: { '': '"tools":[{"name":"search"}]' }, call });
  await mounts.mountInEffect(raw.url, { search: 'kb:read' });
  expect((await agent.call('wiki__search')).result).toEqual(result);
});
