import { setTimeout as delay } from 'node:timers/promises';
import { alternate } from '../../load/alternate.js';
import { repeat, time } from '../../load/load.js';
import { defineMeasurement, percentile } from '../../runner/measurement.js';
import { startProgram } from '../../servers/process.js';
import { startEndpoint } from './endpoint.js';

/** Members who work at an ordinary pace, so that the server is not busy with them alone. */
const MEMBERS = 8;
const PAUSE_MS = 20;
/** Tests of the server that an administrator asks for at the same time. */
const TESTS = 4;

export const hostileNeighbour = defineMeasurement({
  title: 'requests of others beside a mounted server whose list never ends',
  limitSeconds: 180,
  values: {
    hostile_neighbour_p99: {
      bar: { max: 1.2 },
      note: '99 % of GET /users/me: beside tests of a list that never ends, in pages of 3.8 MB / alone',
    },
  },
  async run(fixture) {
    const identity = await fixture.share(startEndpoint);
    const tokens = await identity.createTokens(MEMBERS, { scopes: ['user:read'] });
    const upstream = fixture.keep(
      await startProgram(new URL('hostile-upstream.js', import.meta.url), 'load'),
    );
    const mount = { name: 'hostile', url: `${upstream.url}/mcp`, credential: { kind: 'none' } };
    const { server } = await identity.call<{ server: { id: string } }>('POST', '/api/v1/mcp-servers', mount);
    const test = async () => {
      const url = `${identity.url}/api/v1/mcp-servers/${server.id}/test`;
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${identity.session}` },
      });
      const body = (await response.json()) as { isUsable?: boolean };
      // A script is told how long to wait, and asks again sooner.
      if (response.status === 429) await delay(PAUSE_MS);
      else if (body.isUsable !== false) throw new Error('a list that never ends was read');
    };

    async function work(seconds: number): Promise<number> {
      const latenciesMs: number[] = [];
      const read = async (member: number) => {
        const headers = { authorization: `Bearer ${tokens[member]}` };
        const { status } = await time(latenciesMs, async () => {
          const response = await fetch(`${identity.url}/api/v1/users/me`, { headers });
          await response.arrayBuffer();
          return response;
        });
        if (status !== 200) throw new Error(`a member was answered ${status}`);
        await delay(PAUSE_MS);
      };
      await repeat(read, MEMBERS, seconds);
      return percentile(latenciesMs, 0.99);
    }
    const { ratio } = await alternate(
      fixture,
      { rounds: 5, warmUpSeconds: 2 },
      {
        alone: work,
        beside: async (seconds) => {
          const [p99] = await Promise.all([work(seconds), repeat(test, TESTS, seconds)]);
          return p99;
        },
      },
    );
    return { hostile_neighbour_p99: ratio('beside', 'alone') };
  },
});
