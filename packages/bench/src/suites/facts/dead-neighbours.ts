import { setTimeout as delay } from 'node:timers/promises';
import { alternate } from '../../load/alternate.js';
import { repeat } from '../../load/load.js';
import { defineMeasurement, percentile } from '../../runner/measurement.js';
import { startFactsIdentity, startReceiver } from './environment.js';

const DEAD = 100;
const PAUSE_MS = 100;
const WRITERS = 4;
const PATIENCE_MS = 30_000;

interface Token {
  readonly token: { readonly id: string };
}

export const deadNeighbours = defineMeasurement({
  title: "deliveries to one organisation beside another one's 100 destinations that never answer",
  limitSeconds: 300,
  values: {
    facts_dead_neighbours_p99: {
      bar: { max: 1.1 },
      note: '99 % from a token to its fact at the receiver: beside 100 dead destinations of another organisation / without',
    },
    facts_delivery_p50: {
      unit: 'ms',
      note: 'from the creation of a token to its fact at the receiver, half of them',
    },
  },
  async run(fixture) {
    const identity = await fixture.share(startFactsIdentity);
    const receiver = await fixture.share(startReceiver);
    const other = await identity.createOrganisation();
    const callOther = async <T>(method: string, path: string, body?: object): Promise<T> => {
      const headers = { authorization: `Bearer ${other}`, 'content-type': 'application/json' };
      const response = await fetch(identity.url + path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
      return (await response.json()) as T;
    };
    const destinations = '/api/v1/events/destinations';
    const types = ['token.created'];
    await callOther('POST', destinations, { form: 'webhook', url: `${receiver.url}/webhook`, types });
    const dead: string[] = [];
    for (let index = 0; index < DEAD - 1; index += 1) {
      const fields = { form: 'webhook', url: `${receiver.url}/dead/${index}`, types, isEnabled: false };
      const { destination } = await identity.call<{ destination: { id: string } }>(
        'POST',
        destinations,
        fields,
      );
      dead.push(destination.id);
    }
    const setDead = async (isEnabled: boolean) => {
      for (const id of dead) await identity.call('PATCH', `${destinations}/${id}`, { isEnabled });
    };

    const medians: number[] = [];
    async function deliver(seconds: number): Promise<number> {
      const createdAt = new Map<string, number>();
      await repeat(
        async () => {
          const at = Date.now();
          const body = { name: 'bench', scopes: ['user:read'] };
          const { token } = await callOther<Token>('POST', '/api/v1/personal-access-tokens', body);
          createdAt.set(token.id, at);
          await delay(PAUSE_MS);
        },
        WRITERS,
        seconds,
      );
      for (const givesUpAt = Date.now() + PATIENCE_MS; ;) {
        const receivedAt = new Map((await (await fetch(receiver.url)).json()) as [string, number][]);
        const delays = [...createdAt].map(([id, at]) => (receivedAt.get(id) ?? Number.NaN) - at);
        if (!delays.some(Number.isNaN)) {
          medians.push(percentile(delays, 0.5));
          return percentile(delays, 0.99);
        }
        if (Date.now() > givesUpAt) throw new Error('facts were not delivered');
        await delay(PAUSE_MS);
      }
    }
    const { ratio } = await alternate(
      fixture,
      { rounds: 5, warmUpSeconds: 2 },
      {
        without: deliver,
        beside: async (seconds) => {
          await setDead(true);
          // A fact for each of them.
          await identity.createTokens(1, { scopes: ['user:read'] });
          const p99 = await deliver(seconds);
          await setDead(false);
          return p99;
        },
      },
    );
    return {
      facts_dead_neighbours_p99: ratio('beside', 'without'),
      facts_delivery_p50: percentile(medians, 0.5),
    };
  },
});
