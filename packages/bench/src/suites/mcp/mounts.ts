import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { alternate } from '../../load/alternate.js';
import { repeat } from '../../load/load.js';
import type { Fixture } from '../../runner/fixture.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { startProgram } from '../../servers/process.js';
import { loadWith, requestList, startEndpoint } from './endpoint.js';

const turns = { rounds: 3, warmUpSeconds: 2 };
const MOUNTS = 10;
const TOOLS = 20;
/** The scopes of the platform's own tools that an administrator's agent has, except sending mail. */
const OWN_SCOPES = ['user:read', 'pat:read', 'pat:write', 'crawl:read', 'crawl:write', 'crawl:delete'];
const OWN_TOOLS = 12;
const TOKENS = 100;
/** Concurrent calls on one connected client. */
const CALLERS = 8;

/** Starts a server on the load's core, mounts it under ten names, and enables all of its tools. */
async function startMounted(fixture: Fixture): Promise<string> {
  const { call } = await fixture.share(startEndpoint);
  const upstream = fixture.keep(await startProgram(new URL('mounted-upstream.js', import.meta.url), 'load'));
  const url = `${upstream.url}/mcp`;
  for (let index = 0; index < MOUNTS; index += 1) {
    const rules = [{ pattern: '*', scope: 'kb:read' }];
    const body = { name: `wiki${index}`, url, credential: { kind: 'assertion' }, rules };
    const { server } = await call<{ server: { id: string } }>('POST', '/api/v1/mcp-servers', body);
    const path = `/api/v1/mcp-servers/${server.id}`;
    await call('POST', `${path}/refresh`);
    const { data } = await call<{ data: { name: string; hash: string }[] }>('GET', `${path}/tools?limit=100`);
    if (data.length !== TOOLS) throw new Error(`${data.length} tools are offered`);
    await call('PATCH', `${path}/tools`, { tools: data.map(({ name, hash }) => ({ name, approve: hash })) });
  }
  return url;
}

async function connect({ keep }: Fixture, url: string, token?: string): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  keep({ stop: () => client.close() });
  return client;
}

/** Calls a tool with the official client on a kept connection. @returns calls per second. */
const loadCalls = (client: Client, name: string, seconds: number): Promise<number> =>
  repeat(
    async () => {
      const { isError } = await client.callTool({ name, arguments: { query: 'cats' } });
      if (isError === true) throw new Error(`${name} failed`);
    },
    CALLERS,
    seconds,
  );

export const mountedLists = defineMeasurement({
  title: 'lists with mounted servers against lists without',
  limitSeconds: 120,
  values: {
    mounted_list_vs_own: {
      bar: { min: 0.8 },
      note: 'tools/list by bytes: with 200 mounted tools / the 12 own',
    },
  },
  async run(fixture) {
    await fixture.share(startMounted);
    const identity = await fixture.share(startEndpoint);
    const prepare = async (scopes: readonly string[], expected: number) => {
      const tokens = await identity.createTokens(TOKENS, { scopes });
      const { bytes, tools } = await requestList(identity, tokens[0]);
      if (tools !== expected) throw new Error(`${tools} tools are listed instead of ${expected}`);
      return async (seconds: number) => (await loadWith(identity, tokens, 'list', { seconds })) * bytes;
    };
    const { ratio } = await alternate(fixture, turns, {
      own: await prepare(OWN_SCOPES, OWN_TOOLS),
      mounted: await prepare([...OWN_SCOPES, 'kb:read'], OWN_TOOLS + MOUNTS * TOOLS),
    });
    return { mounted_list_vs_own: ratio('mounted', 'own') };
  },
});

export const mountedCalls = defineMeasurement({
  title: 'calls of a mounted tool against calls of its server',
  limitSeconds: 120,
  values: {
    mounted_call_vs_direct: {
      bar: { min: 0.5 },
      note: 'tools/call with the official client: through /mcp / directly',
    },
    mounted_call: { unit: '/s', note: 'tools/call through /mcp, 8 at a time, an assertion for each' },
  },
  async run(fixture) {
    const upstreamUrl = await fixture.share(startMounted);
    const identity = await fixture.share(startEndpoint);
    const [token] = await identity.createTokens(1, { scopes: ['kb:read'] });
    const direct = await connect(fixture, upstreamUrl);
    const mounted = await connect(fixture, `${identity.url}/mcp`, token);
    const { rate, ratio } = await alternate(fixture, turns, {
      direct: (seconds) => loadCalls(direct, 'search_0', seconds),
      mounted: (seconds) => loadCalls(mounted, 'wiki0__search_0', seconds),
    });
    return { mounted_call_vs_direct: ratio('mounted', 'direct'), mounted_call: rate('mounted') };
  },
});
