import { type Figure, median, type Ratio, type SuiteOptions, type SuiteResult } from '../../suite.js';
import { startBaseline, startProgram } from '../../service-process.js';
import { loadWith, messages, startFixture } from './fixture.js';

/*
 * Identity, the common pattern and a bare echo share one core; PostgreSQL and the load share the other. The loads
 * alternate over three rounds and the medians are compared: a slow phase of the machine affects all three.
 */
const ROUNDS = 3;
const WARM_UP_SECONDS = 2;

type Message = keyof typeof messages;
const kinds = Object.keys(messages) as readonly Message[];

async function startServers() {
  const fixture = await startFixture();
  const servers = {
    echo: await startBaseline(),
    per_request_server: await startProgram(new URL('per-request-server.js', import.meta.url)),
    identity: fixture.identity,
  };
  const stop = async () => {
    await Promise.all([servers.echo.stop(), servers.per_request_server.stop()]);
    await fixture.stop();
  };
  return { servers, tokens: fixture.tokens, stop };
}

type Rates = Record<keyof Awaited<ReturnType<typeof startServers>>['servers'], Record<Message, number[]>>;

const notes: Readonly<Record<keyof Rates, string>> = {
  echo: 'bare Fastify that echoes the parsed body',
  per_request_server: 'new McpServer and transport per request on Express, eight zod tools, no credential',
  identity: 'with a token, liveness read from PostgreSQL each time',
};

function toResult(rates: Rates, identityMib: number): SuiteResult {
  const names = Object.keys(rates) as readonly (keyof Rates)[];
  const figures: Figure[] = names.flatMap((name) =>
    kinds.map((kind) => ({
      name: `${name}, ${kind}`,
      value: median(rates[name][kind]),
      unit: 'requests/s',
      note: notes[name],
    })),
  );
  figures.push({ name: 'resident', value: identityMib, unit: 'MiB', note: 'peak of identity' });
  const ratio = (kind: Message, name: 'per_request_server' | 'echo', min: number): Ratio => ({
    name: `${kind}_vs_${name}`,
    value: median(rates.identity[kind]) / median(rates[name][kind]),
    goal: { min },
    note: `tools/${kind}: identity / ${name}`,
  });
  const ratios = kinds.flatMap((kind) => [ratio(kind, 'per_request_server', 10), ratio(kind, 'echo', 0.2)]);
  return { figures, ratios };
}

/** Measures `tools/list` and `tools/call` of `whoami` with a personal access token. */
export async function measureThroughput({ seconds, progress }: SuiteOptions): Promise<SuiteResult> {
  const { servers, tokens, stop } = await startServers();
  const names = Object.keys(servers) as readonly (keyof Rates)[];
  const rates = Object.fromEntries(names.map((name) => [name, { list: [], call: [] }])) as unknown as Rates;
  try {
    progress('warming up');
    for (const name of names)
      for (const kind of kinds) await loadWith(servers[name], tokens, kind, { seconds: WARM_UP_SECONDS });
    for (let round = 1; round <= ROUNDS; round += 1) {
      progress(`load, round ${round} of ${ROUNDS}`);
      for (const kind of kinds)
        for (const name of names)
          rates[name][kind].push(
            (await loadWith(servers[name], tokens, kind, { seconds })).requestsPerSecond,
          );
    }
    return toResult(rates, await servers.identity.residentPeakMib());
  } finally {
    await stop();
  }
}
