import { setTimeout as delay } from 'node:timers/promises';
import { alternate } from '../../load/alternate.js';
import { repeat } from '../../load/load.js';
import { createMemberLoad, MEMBERS } from '../../load/members.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { startProgram } from '../../servers/process.js';
import { startEndpoint } from './endpoint.js';

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
      // The response says how long to wait; a script asks again sooner.
      if (response.status === 429) await delay(PAUSE_MS);
      else if (body.isUsable !== false) throw new Error('a list that never ends was read');
    };

    const work = createMemberLoad(identity.url, tokens);
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
