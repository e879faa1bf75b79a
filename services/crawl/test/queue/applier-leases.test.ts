import { waitFor } from '@platform/testing';
import { findSchedule, upsertSchedule } from '../../src/db/schedules.js';
import type { Schedule } from '../../src/domain/schedule.js';
import { connector, HOUR_MS, useApplier } from '../support/applier.js';
import { describeEachBackend } from '../support/platform.js';

describeEachBackend('what an applier leaves to another on %s', (backend) => {
  const site = useApplier(backend);
  const { orgId, newApplier, wanted, revisionsQueued, rows, applied, endLeases } = site;

  it('clears no mark once its lease has ended', async () => {
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
    const second = await upsertSchedule(site.pool, wanted());
    await endLeases();
    release();
    await slow.stop();
    expect(await rows()).toMatchObject([{ isApplied: false }]);
    // Whoever takes it over knows of both.
    newApplier().wake();
    await applied();
    expect(await revisionsQueued()).toEqual([second]);
  });

  it('clears no mark of the same revision once its lease has ended: the queue may have lost its data since', async () => {
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
    await endLeases();
    release();
    await slow.stop();
    expect(await rows()).toMatchObject([{ isApplied: false }]);
  });

  it('goes on with what a replica has left: what that has added is not added again', async () => {
    const revision = await upsertSchedule(site.pool, wanted());
    const schedule = (await findSchedule(site.pool, orgId, connector)) as Schedule;
    // Died between the command and its answer.
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

  it('tries again what the queue refused, and tells the others meanwhile', async () => {
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

  it('makes anew what the queue has lost, expects no later time than the queue, and touches nothing else', async () => {
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
    expect(await again.rebuild(() => false)).toBe(true);
    await applied();
    expect([added, (await revisionsQueued()).length]).toEqual([[connector], 1]);
    const schedule = await findSchedule(site.pool, orgId, connector);
    expect(schedule?.nextRunAt?.getTime()).toBeLessThanOrEqual(Date.now() + HOUR_MS);
  });
});
