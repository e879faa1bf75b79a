import { randomUUID } from 'node:crypto';
import type { Connector } from '@platform/events';
import { v7 as uuidv7 } from 'uuid';
import { claimRuns, countClaimable } from '../../src/db/claim-runs.js';
import { insertRequestedRun } from '../../src/db/runs.js';
import { findStatus, findStatuses } from '../../src/db/schedule-status.js';
import { pauseSchedule } from '../../src/db/schedules.js';
import { expectClaimed, filesOf, LIMIT, times, useRunRows } from '../support/run-rows.js';

/* The claims of the service's workers: the limit of a connector, its line, and the one run of an organisation. */

describe('the claims of a connector', () => {
  const rows = useRunRows();

  /** Gives an organisation that many instances with a schedule of the same time. Returns the ids of the schedules. */
  async function scheduleInstances(count: number, orgId: string = randomUUID()): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const { id } = await rows.scheduleDaily();
      await rows.pool.query('update schedules set org_id = $2, instance = $3 where id = $1', [
        id,
        orgId,
        `files-${index}`,
      ]);
      ids.push(id);
    }
    return ids;
  }
  const claim = () => rows.newLifecycle().claim('files_1');
  const request = (schedule: { readonly id: string; readonly orgId: string }) =>
    insertRequestedRun(
      rows.pool,
      {
        id: uuidv7(),
        scheduleId: schedule.id,
        at: new Date(rows.now),
        requestId: 'r',
        mode: undefined,
        requestedBy: { id: schedule.orgId, name: 'Ada' },
        traceparent: undefined,
      },
      null,
    );
  const count = async () =>
    (await countClaimable(rows.pool, { connectors: ['files_1'], limit: LIMIT, at: new Date(rows.now) })).get(
      'files_1',
    );

  it('are as many as its places, over all replicas that claim at the same time (CRAWL-24)', async () => {
    for (let schedules = 0; schedules < 3 * LIMIT; schedules += 1) await rows.scheduleDaily();
    await rows.dispatch();
    const replicas = [1, 2, 3].map(() => rows.newLifecycle());
    const asked = replicas.flatMap((replica) =>
      Array.from({ length: LIMIT }, () => replica.claim('files_1')),
    );
    const claimed = (await Promise.all(asked)).filter((run) => run !== undefined);
    expect(claimed).toHaveLength(LIMIT);
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(LIMIT);
    expect(await count()).toBeUndefined();
    expect(await rows.newLifecycle().complete(expectClaimed(claimed[0]))).toBe(true);
    expect(await count()).toBe(1);
    expect(await claim()).toBeDefined();
    expect(await claim()).toBeUndefined();
  });

  it('of several connectors in one batch are counted for each', async () => {
    const ids = await scheduleInstances(1);
    const { id } = await rows.scheduleDaily();
    await rows.pool.query(`update schedules set connector = 'wiki_1' where id = $1`, [id]);
    await rows.dispatch();
    const asked = (['wiki_1', 'files_1', 'wiki_1', 'db_1'] as Connector[]).map((connector, index) => ({
      connector,
      lease: `lease-${index}`,
    }));
    const given = { at: new Date(rows.now), leaseUntil: new Date(rows.now + 1), limit: 1 };
    const claimed = await claimRuns(rows.pool, asked, given);
    expect(claimed.map((run) => run?.scheduleId)).toEqual([id, ids[0], undefined, undefined]);
    const leases = claimed.flatMap((run) => run?.lease ?? []);
    expect(new Set(leases).size).toBe(2);
  });

  it('are one at a time of the instances of an organisation, also at the same time', async () => {
    await scheduleInstances(3);
    const other = await rows.scheduleDaily();
    expect((await rows.dispatch()).announced.get('files_1')).toBe(4);
    expect(await count()).toBe(2);
    const replicas = [rows.newLifecycle(), rows.newLifecycle()];
    const claimed = (
      await Promise.all([...replicas, ...replicas].map((replica) => replica.claim('files_1')))
    ).filter((run) => run !== undefined);
    expect(claimed).toHaveLength(2);
    expect(claimed.filter(({ orgId }) => orgId === other.orgId)).toHaveLength(1);
    expect(await count()).toBeUndefined();
  });

  it('follow when the run before has ended, or waits for its next attempt', async () => {
    const ids = await scheduleInstances(3);
    await rows.dispatch();
    const lifecycle = rows.newLifecycle();
    const first = expectClaimed(await claim());
    expect(await claim()).toBeUndefined();
    expect(await lifecycle.fail(first, 'no')).toBe('retry');
    const second = expectClaimed(await claim());
    expect(second.scheduleId).not.toBe(first.scheduleId);
    rows.now += times.retryDelayMs;
    expect(await claim()).toBeUndefined();
    await lifecycle.complete(second);
    // The attempt is due, and its place in line is before that of the third instance.
    expect((await claim())?.id).toBe(first.id);
    const again = await request({ id: second.scheduleId, orgId: second.orgId });
    const { orgId } = first;
    // The active one, and the third instance.
    expect(await findStatus(rows.pool, second)).toMatchObject({ run: { state: 'waiting' }, runsAhead: 2 });
    expect((await findStatuses(rows.pool, orgId)).map(({ runsAhead }) => runsAhead)).toEqual([0, 0, 0]);
    await pauseSchedule(rows.pool, { ...first, at: new Date(rows.now) }, null);
    const third = expectClaimed(await claim());
    expect(ids).toContain(third.scheduleId);
    await lifecycle.complete(third);
    expect((await claim())?.id).toBe(again?.id);
  });

  it('take the oldest run of each organisation, however many instances another one has, and whatever the priorities (CRAWL-32)', async () => {
    const loud = randomUUID();
    await scheduleInstances(20, loud);
    await rows.pool.query('update schedules set priority = 1');
    await rows.dispatch();
    const quiet = [await rows.scheduleDaily(), await rows.scheduleDaily()];
    await rows.pool.query('update schedules set priority = 10 where org_id <> $1', [loud]);
    rows.now += 1_000;
    for (const schedule of quiet) expect(await request(schedule)).toBeDefined();
    const lifecycle = rows.newLifecycle();
    const order: string[] = [];
    for (let run = await claim(); run; run = await claim()) {
      order.push(run.orgId);
      await lifecycle.complete(run);
    }
    expect(order.slice(0, 3)).toEqual([loud, quiet[0]?.orgId, quiet[1]?.orgId]);
    expect(order.filter((orgId) => orgId === loud)).toHaveLength(20);
  });

  it('let an organisation with a run in progress come behind the others that wait', async () => {
    const [first = ''] = await scheduleInstances(1);
    await rows.dispatch();
    const active = expectClaimed(await claim());
    const own = await rows.scheduleDaily();
    await rows.pool.query(`update schedules set org_id = $2, instance = 'second' where id = $1`, [
      own.id,
      active.orgId,
    ]);
    await request({ id: own.id, orgId: active.orgId });
    rows.now += 60_000;
    const other = await rows.scheduleDaily();
    await request(other);
    await rows.newLifecycle().complete(active);
    expect(first).toBe(active.scheduleId);
    expect((await claim())?.scheduleId).toBe(other.id);
    expect((await claim())?.scheduleId).toBe(own.id);
  });

  it('are announced again when the announcement was lost, as many as have a place, and no more once all are taken', async () => {
    for (let schedules = 0; schedules < LIMIT + 1; schedules += 1) await rows.scheduleDaily();
    expect((await rows.dispatch(true)).announced.size).toBe(0);
    expect(await rows.sweep()).toEqual(new Map([['files_1', LIMIT]]));
    const first = expectClaimed(await claim());
    expect(await rows.sweep()).toEqual(new Map([['files_1', LIMIT - 1]]));
    for (let places = 1; places < LIMIT; places += 1) await claim();
    expect(await rows.sweep()).toEqual(new Map());
    // A handed-back run, and one whose worker is lost, are found, too.
    await rows.newLifecycle().handBack(first);
    expect(await rows.sweep()).toEqual(new Map([['files_1', 1]]));
    rows.now += times.leaseMs;
    expect((await rows.dispatch()).announced).toEqual(new Map([['files_1', LIMIT - 1]]));
  });

  it('skip a run that is being aborted', async () => {
    const { orgId, id } = await rows.scheduleDaily();
    const other = await rows.scheduleDaily();
    await rows.dispatch();
    const pausing = await rows.pool.connect();
    await pausing.query('begin');
    await pausing.query(`update runs set state = 'aborted', due_at = null where schedule_id = $1`, [id]);
    expect((await claim())?.scheduleId).toBe(other.id);
    expect(await claim()).toBeUndefined();
    await pausing.query('commit');
    pausing.release();
    expect(await claim()).toBeUndefined();
    expect((await findStatus(rows.pool, filesOf(orgId)))?.run).toBeUndefined();
  });
});
