import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { insertFactsOf } from '@platform/events';
import pg from 'pg';
import { defineMeasurement, percentile } from '../../runner/measurement.js';
import { startIdentity } from '../../servers/identity.js';
import { startReceiver } from './environment.js';

/** Of two accounts, because each can have so many. */
const SUBSCRIPTIONS_OF_ACCOUNT = 100;
const ACCOUNTS = 2;
const FACTS_PER_TURN = 5;
const TURN_MS = 50;
const SECONDS = 20;
const PATIENCE_MS = 30_000;
const EVENT = 'crawl.run.completed';
const toInstance = (index: number): string => `i${index}`;

/** Commits facts, each of which is of one subscription: 100 a second. @returns when each was committed. */
async function commitFacts(databaseUrl: string, subscriptions: number): Promise<Map<string, number>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const committedAt = new Map<string, number>();
  const startedAt = performance.now();
  for (let turn = 0; performance.now() < startedAt + SECONDS * 1_000; turn += 1) {
    const ids = Array.from({ length: FACTS_PER_TURN }, () => randomUUID());
    const instances = ids.map((_, index) => toInstance((turn * FACTS_PER_TURN + index) % subscriptions));
    await client.query({
      name: 'commit',
      text: insertFactsOf(`(
        select id, (select min(id::text)::uuid from organisations) as org_id, '${EVENT}' as type, now() as at,
          json_build_object('runId', id, 'connector', 'wiki_1', 'instance', instance, 'counters', '{}'::json) as data
        from unnest($1::uuid[], $2::text[]) as run (id, instance)) as fact`),
      values: [ids, instances],
    });
    for (const id of ids) committedAt.set(id, Date.now());
    await delay(Math.max(0, startedAt + (turn + 1) * TURN_MS - performance.now()));
  }
  await client.end();
  return committedAt;
}

export const subscriptions = defineMeasurement({
  title: 'events to 200 subscriptions of agents beside 100 facts a second',
  limitSeconds: 180,
  values: {
    events_callback_p99: {
      unit: 'ms',
      bar: { max: 1_000 },
      note: 'from the commit of a fact to its event at the receiver, 99 % of them, at 200 subscriptions and 100 facts a second',
    },
    events_callback_p50: { unit: 'ms', note: 'the same, half of them' },
  },
  async run(fixture) {
    // Without a crawl service, there are no tools that show crawls, and so no events about them.
    const environment = { DESTINATION_ALLOWED_TARGETS: '127.0.0.0/8', CRAWL_URL: 'http://127.0.0.1:9' };
    const identity = await startIdentity(fixture, 'bench_events', environment);
    const receiver = await fixture.share(startReceiver);
    const scopes = ['crawl:read'];
    const tokens = await identity.createTokens(1, { scopes });
    const { serviceAccount } = await identity.call<{ serviceAccount: { id: string } }>(
      'POST',
      '/api/v1/service-accounts',
      { name: 'watch', role: 'admin' },
    );
    const path = `/api/v1/service-accounts/${serviceAccount.id}/tokens`;
    tokens.push(...(await identity.createTokens(1, { path, scopes })));

    async function subscribe(token: string, index: number): Promise<void> {
      const secret = `whsec_${randomBytes(32).toString('base64')}`;
      const delivery = { mode: 'webhook', url: `${receiver.url}/events/${index}`, secret };
      const params = { name: EVENT, arguments: { instance: toInstance(index) }, delivery };
      const response = await fetch(`${identity.url}/mcp`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'events/subscribe', params }),
      });
      const text = await response.text();
      if (!text.includes('refreshBefore')) throw new Error(text);
    }
    const all = ACCOUNTS * SUBSCRIPTIONS_OF_ACCOUNT;
    for (let index = 0; index < all; index += 1) await subscribe(tokens[index % ACCOUNTS] as string, index);

    const committedAt = await commitFacts(identity.databaseUrl, all);
    for (const givesUpAt = Date.now() + PATIENCE_MS; ;) {
      const receivedAt = new Map((await (await fetch(receiver.url)).json()) as [string, number][]);
      const delays = [...committedAt].map(([id, at]) => (receivedAt.get(id) ?? Number.NaN) - at);
      if (!delays.some(Number.isNaN))
        return {
          events_callback_p99: percentile(delays, 0.99),
          events_callback_p50: percentile(delays, 0.5),
        };
      if (Date.now() > givesUpAt) throw new Error('events were not delivered');
      await delay(TURN_MS);
    }
  },
});
