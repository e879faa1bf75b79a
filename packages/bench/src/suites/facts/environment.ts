import { setTimeout as delay } from 'node:timers/promises';
import { insertFactsOf } from '@platform/events';
import pg from 'pg';
import type { Fixture } from '../../runner/fixture.js';
import { startIdentity } from '../../servers/identity.js';
import { startProgram } from '../../servers/process.js';
import { execute } from '../../servers/service.js';

export const startFactsIdentity = (fixture: Fixture) =>
  startIdentity(fixture, 'bench_facts', { DESTINATION_ALLOWED_TARGETS: '127.0.0.0/8' });

export const startReceiver = async (fixture: Fixture) =>
  fixture.keep(await startProgram(new URL('receiver.js', import.meta.url), 'load'));

const FACTS_PER_TURN = 50;
const TURN_MS = 50;

/** Causes facts as another service's reports would be: 1,000 a second, in the first organisation, until the time is over. */
export async function causeFacts(databaseUrl: string, seconds: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const startedAt = performance.now();
  for (let turn = 0; performance.now() < startedAt + seconds * 1_000; turn += 1) {
    await client.query({
      name: 'cause',
      text: insertFactsOf(`(
        select uuidv7() as id, (select min(id::text)::uuid from organisations) as org_id, 'crawl.run.completed' as type,
          now() as at, json_build_object('runId', uuidv7(), 'connector', 'wiki_1', 'attempts', 1) as data
        from generate_series(1, $1::int)) as fact`),
      values: [FACTS_PER_TURN],
    });
    await delay(Math.max(0, startedAt + (turn + 1) * TURN_MS - performance.now()));
  }
  await client.end();
}

/** Waits until every destination has got everything, so that the next turn begins with nothing. */
export async function allDelivered(databaseUrl: string): Promise<void> {
  const behind = `
    select from outbox.events where position is null
    union all select from fact_destinations d
      where is_enabled and exists (select from outbox.events e where e.org_id = d.org_id::text and e.position > d.position)`;
  while (((await execute(databaseUrl, [behind]))?.rowCount ?? 0) > 0) await delay(TURN_MS);
}
