import type { SyncEvent } from '@platform/events';
import { DAY_MS } from '@platform/service-kit';
import type { ClaimedRow } from '../../src/db/claim-runs.js';
import { findWork, renewWork } from '../../src/db/work.js';
import { ENDPOINT_HOLDER, hashLease } from '../../src/domain/lease.js';
import { at, useRunRows } from '../support/run-rows.js';

/* Full runs of workers that take them from the queue. */

describe('the event of a full run', () => {
  const rows = useRunRows();

  /** Completes the second full run of a connector, at its second attempt. @param reports - the endpoint says itself that it is done. */
  async function complete(
    worker: 'event' | 'endpoint',
    reports = false,
  ): Promise<SyncEvent['payload'] | undefined> {
    const { id, orgId, claim } = await rows.scheduleDaily(worker);
    await rows.pool.query('update schedules set full_every_days = 1 where id = $1', [id]);
    const lastFullAt = new Date(at - DAY_MS);
    await rows.pool.query(
      `insert into connector_states (org_id, connector, last_full_at) values ($1, 'files_1', $2)`,
      [orgId, lastFullAt],
    );
    const lifecycle = rows.newLifecycle();
    await lifecycle.fail(await claim(), 'no');
    rows.now += 1_000;
    const second = await claim();
    const run = reports ? await findWork(rows.pool, second) : second;
    expect(run && (await lifecycle.complete(run))).toBe(true);
    const { rows: states } = await rows.pool.query(
      'select last_full_at, full_started_at from connector_states where org_id = $1',
      [orgId],
    );
    expect(states).toEqual([
      { last_full_at: worker === 'endpoint' ? new Date(at) : lastFullAt, full_started_at: null },
    ]);
    const found = await rows.pool.query<{ event: SyncEvent }>(
      'select event from outbox.events where org_id = $1::text',
      [orgId],
    );
    return found.rows[0]?.event.payload;
  }

  it.each([
    ['has crawled', false],
    ['has crawled and reported it', true],
  ])('names its own start when its endpoint %s', async (_title, reports) => {
    expect(await complete('endpoint', reports)).toMatchObject({ mode: 'full', fullStartedAt: String(at) });
  });

  it('has what its endpoint counted in the attempt, whoever asks it', async () => {
    const { orgId, claim } = await rows.scheduleDaily('endpoint');
    const lifecycle = rows.newLifecycle();
    const report = async (items: number, run: ClaimedRow) => {
      const given = { at: new Date(rows.now), leaseUntil: new Date(rows.now + 1), progress: undefined };
      const proof = { id: run.id, orgId, leaseHashes: [hashLease(run.lease, ENDPOINT_HOLDER)] };
      const reported = { counters: { items }, checkpoint: undefined, log: [] };
      expect(await renewWork(rows.pool, proof, { ...given, ...reported })).toBeDefined();
    };
    const first = await claim();
    await report(5, first);
    await lifecycle.fail(first, 'no');
    rows.now += 1_000;
    const second = await claim();
    await report(2, second);
    await lifecycle.handBack(second);
    const third = await claim();
    await report(3, third);
    expect(await lifecycle.complete(third)).toBe(true);
    const found = await rows.pool.query<{ counters: object; event: SyncEvent }>(
      `select counters, event from runs join outbox.events o on o.cause = runs.id::text where runs.org_id = $1`,
      [orgId],
    );
    expect(found.rows).toMatchObject([{ counters: { items: 3 }, event: { payload: { items: '3' } } }]);
  });

  it('says nothing of a full crawl when nobody has crawled', async () => {
    const payload = await complete('event');
    expect(payload).toHaveProperty('runId');
    expect(payload).not.toHaveProperty('mode');
    expect(payload).not.toHaveProperty('fullStartedAt');
  });

  it.each([
    [
      'is left to the next worker by a run that crawls nothing',
      'event',
      { checkpoint: '"half"', full_started_at: new Date(at - DAY_MS), last_full_at: null },
    ],
    [
      'is overtaken by the full crawl of an endpoint',
      'endpoint',
      { checkpoint: null, full_started_at: null, last_full_at: new Date(at) },
    ],
  ] as const)('a full crawl that workers have begun %s', async (_title, worker, state) => {
    const { orgId, claim } = await rows.scheduleDaily(worker);
    await rows.pool.query(
      `insert into connector_states (org_id, connector, checkpoint, full_started_at) values ($1, 'files_1', '"half"', $2)`,
      [orgId, new Date(at - DAY_MS)],
    );
    expect(await rows.newLifecycle().complete(await claim())).toBe(true);
    const found = await rows.pool.query(
      'select checkpoint, full_started_at, last_full_at from connector_states where org_id = $1',
      [orgId],
    );
    expect(found.rows).toEqual([state]);
  });
});
