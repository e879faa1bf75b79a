import { HOUR_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { findSchedule, upsertSchedule } from '../../src/db/schedules.js';
import type { Schedule } from '../../src/domain/schedule.js';
import { useApplier } from '../support/applier.js';
import { describeEachBackend } from '../support/platform.js';
import { connector } from '../support/test-queues.js';

describeEachBackend('an applier beside others on %s', (backend) => {
  const site = useApplier(backend);
  const { orgId, newApplier, wanted, revisionsQueued, rows, applied, endLeases } = site;

  /** Has an applier claim a new row. @returns a function that lets the applier finish, and stops it. */
  async function claimAndHold(): Promise<() => Promise<void>> {
    let release = () => undefined as unknown;
    const slow = newApplier({
      async apply(schedule) {
        await new Promise((resolve) => (release = () => resolve(undefined)));
        return site.queues.apply(schedule);
      },
    });
    await upsertSchedule(site.pool, wanted());
    slow.wake();
    await waitFor(async () => (await rows())[0]?.queued.length === 1, { what: 'the claim' });
    return () => {
      release();
      return slow.stop();
    };
  }

  it('marks no row as applied after its lease has expired', async () => {
    const finish = await claimAndHold();
    const second = await upsertSchedule(site.pool, wanted());
    await endLeases();
    await finish();
    expect(await rows()).toMatchObject([{ isApplied: false }]);
    // The next applier removes the first revision and adds the second.
    newApplier().wake();
    await applied();
    expect(await revisionsQueued()).toEqual([second]);
  });

  it('marks no row as applied after its lease has expired even if the revision is the same, because the queue may have lost its data since', async () => {
    const finish = await claimAndHold();
    await endLeases();
    await finish();
    expect(await rows()).toMatchObject([{ isApplied: false }]);
  });

  it('does not add a job that a dead replica has already added', async () => {
    const revision = await upsertSchedule(site.pool, wanted());
    const schedule = (await findSchedule(site.pool, orgId, connector)) as Schedule;
    // The replica died between the command and its response.
    await site.pool.query('update schedules set queued_revisions = array[revision]');
    await site.queues.apply(schedule);
    const added: unknown[] = [];
    const applier = newApplier({
      apply: (again) => {
        added.push(again);
        return site.queues.apply(again);
      },
    });
    applier.wake();
    await applied();
    expect([added, await revisionsQueued()]).toEqual([[], [revision]]);
  });

  it('retries a change that the queue refused, and applies the others meanwhile', async () => {
    let isAway = true;
    const applier = newApplier({
      apply: (schedule) =>
        isAway && schedule.connector === connector
          ? Promise.reject(new Error('away'))
          : site.queues.apply(schedule),
    });
    await upsertSchedule(site.pool, wanted());
    await upsertSchedule(site.pool, { ...wanted(), connector: 'files_2' });
    applier.start();
    await waitFor(async () => (await rows()).filter(({ isApplied }) => isApplied).length === 1, {
      what: 'the other one',
    });
    isAway = false;
    await applied();
    expect(await revisionsQueued()).toHaveLength(1);
  });

  it('adds the jobs that the queue has lost, expects the next run no later than the queue does, and changes nothing else', async () => {
    const scheduledTime = new Date(Date.now() + HOUR_MS).toISOString();
    await upsertSchedule(site.pool, wanted({ scheduleType: 'hourly', minute: 7, interval: 1 }));
    await upsertSchedule(site.pool, {
      ...wanted({ scheduleType: 'once', scheduledTime }),
      connector: 'files_2',
    });
    const applier = newApplier();
    applier.wake();
    await applied();
    for (const { key } of await site.view.listSchedulers(connector))
      await site.view.removeScheduler(connector, key);
    await site.pool.query(
      `update schedules set next_run_at = next_run_at + interval '6 hours' where connector = $1`,
      [connector],
    );
    const added: string[] = [];
    const again = newApplier({
      apply: (schedule) => {
        added.push(schedule.connector);
        return site.queues.apply(schedule);
      },
    });
    expect(await again.rebuild(new AbortController().signal)).toBe(true);
    await applied();
    expect([added, (await revisionsQueued()).length]).toEqual([[connector], 1]);
    const schedule = await findSchedule(site.pool, orgId, connector);
    expect(schedule?.nextRunAt?.getTime()).toBeLessThanOrEqual(Date.now() + HOUR_MS);
  });
});
