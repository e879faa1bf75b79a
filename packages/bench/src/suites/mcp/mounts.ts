import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { send } from '../../identity.js';
import { startProgram } from '../../service-process.js';
import { median, type SuiteOptions, type SuiteResult } from '../../suite.js';
import { type Fixture, loadWith, requestList, startFixture } from './fixture.js';

const ROUNDS = 3;
const WARM_UP_SECONDS = 2;
const MOUNTS = 10;
const TOOLS = 20;
/** The scopes of those of the platform's twelve tools that an administrator's agent has, except sending mail. */
const OWN_SCOPES = ['user:read', 'pat:read', 'pat:write', 'crawl:read', 'crawl:write', 'crawl:delete'];
const OWN_TOOLS = 12;
const TOKENS = 100;
/** Concurrent calls on one connected client. */
const CALLERS = 8;

/** Mounts the server under ten names and enables all of its tools. */
// prettier-ignore
async function mount({ identity }: Fixture, url: string): Promise<void> {
  const call = async (method: string, path: string, body?: object) =>
    (await send(`${identity.url}/api/v1/mcp-servers${path}`, method, identity.session, body)).body;
  for (let index = 0; index < MOUNTS; index += 1) {
    const rules = [{ pattern: '*', scope: 'kb:read' }];
    const body = { name: `wiki${index}`, url, credential: { kind: 'assertion' }, rules };
    const { server } = (await call('POST', '', body)) as { server: { id: string } };
    await call('POST', `/${server.id}/refresh`);
    const { data } = (await call('GET', `/${server.id}/tools?limit=100`)) as { data: { name: string; hash: string }[] };
    if (data.length !== TOOLS) throw new Error(`${data.length} tools are offered`);
    await call('PATCH', `/${server.id}/tools`, { tools: data.map(({ name, hash }) => ({ name, approve: hash })) });
  }
}

async function connect(url: string, token?: string): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

/** Calls a tool with the official client on a kept connection. @returns calls per second. */
async function loadCalls(client: Client, name: string, seconds: number): Promise<number> {
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  let calls = 0;
  const callInTurn = async () => {
    while (performance.now() < endsAt) {
      const { isError } = await client.callTool({ name, arguments: { query: 'cats' } });
      if (isError === true) throw new Error(`${name} failed`);
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, callInTurn));
  return calls / ((performance.now() - startedAt) / 1_000);
}

// prettier-ignore
async function measureLists(fixture: Fixture, { seconds, progress }: SuiteOptions): Promise<SuiteResult> {
  const { identity } = fixture;
  const create = async (scopes: readonly string[], expected: number) => {
    const tokens = (await identity.createTokens(TOKENS, scopes)).map(({ accessToken }) => accessToken);
    const { bytes, tools } = await requestList(identity, tokens[0] ?? '');
    if (tools !== expected) throw new Error(`${tools} tools are listed instead of ${expected}`);
    return { tokens, bytes, rates: [] as number[] };
  };
  const own = await create(OWN_SCOPES, OWN_TOOLS);
  const mounted = await create([...OWN_SCOPES, 'kb:read'], OWN_TOOLS + MOUNTS * TOOLS);
  for (let round = 0; round <= ROUNDS; round += 1) {
    progress(round === 0 ? 'warming up' : `lists, round ${round} of ${ROUNDS}`);
    for (const { tokens, rates } of [own, mounted]) {
      const end = { seconds: round === 0 ? WARM_UP_SECONDS : seconds };
      const { requestsPerSecond } = await loadWith(identity, tokens, 'list', end);
      if (round > 0) rates.push(requestsPerSecond);
    }
  }
  const toMib = ({ rates, bytes }: typeof own) => (median(rates) * bytes) / 1_048_576;
  return {
    figures: [
      { name: 'own tools, list', value: toMib(own), unit: 'MiB/s', note: `${OWN_TOOLS} tools, ${own.bytes} bytes` },
      { name: 'mounted tools, list', value: toMib(mounted), unit: 'MiB/s', note: `${MOUNTS} mounts of ${TOOLS} tools beside them, ${mounted.bytes} bytes` },
    ],
    ratios: [{ name: 'mounted_list_vs_own', value: toMib(mounted) / toMib(own), goal: { min: 0.8 }, note: 'tools/list, by bytes: with 200 mounted tools / own tools' }],
  };
}

// prettier-ignore
async function measureCalls({ identity }: Fixture, upstreamUrl: string, { seconds, progress }: SuiteOptions): Promise<SuiteResult> {
  const [token] = await identity.createTokens(1, ['kb:read']);
  const targets = {
    direct: { client: await connect(upstreamUrl), name: 'search_0', rates: [] as number[] },
    mounted: { client: await connect(`${identity.url}/mcp`, token?.accessToken), name: 'wiki0__search_0', rates: [] as number[] },
  };
  for (let round = 0; round <= ROUNDS; round += 1) {
    progress(round === 0 ? 'warming up' : `calls, round ${round} of ${ROUNDS}`);
    for (const { client, name, rates } of Object.values(targets)) {
      const rate = await loadCalls(client, name, round === 0 ? WARM_UP_SECONDS : seconds);
      if (round > 0) rates.push(rate);
    }
  }
  for (const { client } of Object.values(targets)) await client.close();
  const [direct, mounted] = [median(targets.direct.rates), median(targets.mounted.rates)];
  return {
    figures: [
      { name: 'direct call', value: direct, unit: 'calls/s', note: `official client, ${CALLERS} calls at a time, no credential` },
      { name: 'mounted call', value: mounted, unit: 'calls/s', note: 'the same client through /mcp, with a token; an assertion for each' },
    ],
    ratios: [{ name: 'mounted_call_vs_direct', value: mounted / direct, goal: { min: 0.5 }, note: 'tools/call: through /mcp / directly' }],
  };
}

/** Measures the cost of mounted servers: in lists beside the platform's own tools, and as a hop in calls. */
export async function* measureMounts(options: SuiteOptions): AsyncGenerator<SuiteResult> {
  const isWanted = (part: string) => options.only.size === 0 || options.only.has(part);
  const fixture = await startFixture({ MCP_SERVER_ALLOWED_TARGETS: '127.0.0.0/8' });
  try {
    // The core on which everything runs that is not measured.
    const upstream = await startProgram(new URL('mounted-upstream.js', import.meta.url), 'load');
    try {
      await mount(fixture, `${upstream.url}/mcp`);
      if (isWanted('mounted_list_vs_own')) yield await measureLists(fixture, options);
      if (isWanted('mounted_call_vs_direct'))
        yield await measureCalls(fixture, `${upstream.url}/mcp`, options);
    } finally {
      await upstream.stop();
    }
  } finally {
    await fixture.stop();
  }
}
