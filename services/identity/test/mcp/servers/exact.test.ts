import { createAgent, useMounts } from './platform.js';
import { searchTool, startHttp } from './upstream.js';
import { createCaller } from '../endpoint/endpoint.js';

/* What is passed on as it came, seen as bytes on both sides of the platform. */

const site = await useMounts();
const { identity, session, mounts } = site;

const NUMBERS = '{"query":"é","id": 12345678901234567890, "big":1e400,"one":1.0,"list":[ 1.10 , -0 ]}';
const CONTENT = '[ {"type":"text","text":"\\u00e9","x":9007199254740993} ]';

interface Form {
  readonly isModern: boolean;
  readonly isStream?: boolean;
}

const TOOL = JSON.stringify({ ...searchTool, annotations: { title: 'Find' } });
const INFO = '{"name":"raw","version":"1"}';
const META =
  '{"example.com/page": 12345678901234567890,"io.modelcontextprotocol/other":1,"workspace-knowledge-platform/a":1}';

/** The results of the server by method, as JSON. */
function createResults(isModern: boolean): ReadonlyMap<string | undefined, string> {
  const type = isModern ? '"resultType":"complete",' : '';
  const cached = `${type}"ttlMs":0,"cacheScope":"private",`;
  const info = `"_meta":{"io.modelcontextprotocol/serverInfo":${INFO}}`;
  return new Map([
    ...(isModern
      ? [['server/discover', `{${cached}"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},${info}}`] as const]
      : []),
    ['initialize', `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":${INFO}}`],
    ['tools/list', `{${cached}"tools":[${TOOL}]}`],
    ['tools/call', `{${type}"content":${CONTENT},\n"structuredContent":${NUMBERS},"_meta":${META}}`],
  ]);
} // oxfmt-ignore

/** A response to another request comes first: it is not the one that counts. */
const toEvents = (message: string): string =>
  `data: {"jsonrpc":"2.0","id":99,"result":{"content":[]}}\n\n${message.replaceAll(/^/gm, 'data: ')}\n\n`;

/** Starts a server of the given revision, which answers each call with the same bytes, as JSON or as an event. */
async function startRaw({ isModern, isStream = false }: Form) {
  const bodies: string[] = [];
  const results = createResults(isModern);
  const http = await startHttp(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    bodies.push(text);
    const { id, method } = JSON.parse(text || '{}') as { readonly id?: unknown; readonly method?: string };
    const result = results.get(method);
    const message = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
    const isEvent = isStream && method === 'tools/call';
    if (id === undefined) response.writeHead(202).end();
    else if (result === undefined) response.writeHead(404).end();
    else
      response
        .writeHead(200, { 'content-type': isEvent ? 'text/event-stream' : 'application/json' })
        .end(isEvent ? toEvents(message) : message);
  });
  return { bodies, ...http, url: `http://127.0.0.1:${http.port}/mcp` };
}

test.each([
  { isModern: true },
  { isModern: false },
  { isModern: true, isStream: true },
  { isModern: false, isStream: true },
])('MCP-26: arguments, results and metadata are passed on byte for byte: %j', async (form) => {
  const raw = await startRaw(form);
  try {
    await mounts.mountInEffect(raw.url, { search: 'kb:read' });
    const token = session;
    const { post } = createCaller(identity, token);
    const own = { authorization: 'a', 'workspace-knowledge-platform/b': 1, 'example.com/c': `x ${token}` };
    const meta = `{"example.com/trace": 1e400,${JSON.stringify(own).slice(1, -1)},"progressToken":7}`;
    const params = `{"name":"wiki__search","arguments":${NUMBERS},"_meta":${meta}}`;
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
    for (const headers of [{ accept: 'application/json' }, { accept: 'text/event-stream' }]) {
      const { status, text } = await post(message, headers);
      expect(status).toBe(200);
      expect(text).toContain(`"content":${CONTENT}`);
      expect(text).toContain(`"structuredContent":${NUMBERS}`);
      expect(text).toContain('"_meta":{"example.com/page":12345678901234567890}');
      expect(text).not.toContain('workspace-knowledge-platform/a');
    }
    const sent = raw.bodies.filter((body) => body.includes('tools/call'));
    expect(sent).toHaveLength(2);
    for (const body of sent) {
      expect(body).toContain(`"arguments":${NUMBERS}`);
      expect(body).toContain('"example.com/trace":1e400');
      for (const none of ['authorization', 'workspace-knowledge-platform/b', 'example.com/c', token])
        expect(body).not.toContain(none);
    }
    const [listed] = await createAgent(identity, token).listMounted();
    expect(listed).toMatchObject({ annotations: { title: 'Find' } });
  } finally {
    await raw.close();
  }
}); // oxfmt-ignore
