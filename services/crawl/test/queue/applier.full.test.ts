import { HOUR_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { findSchedule, stopSchedules, upsertSchedule } from '../../src/db/schedules.js';
import { claimUnapplied } from '../../src/db/unapplied-schedules.js';
import type { Schedule } from '../../src/domain/schedule.js';
import { toOnceJobId } from '../../src/queue/job.js';
import { useApplier } from '../support/applier.js';
import { describeEachBackend } from '../support/platform.js';
import { connector } from '../support/test-queues.js';

describeEachBackend('the applier on %s', (backend) => {
  const site = useApplier(backend);
  const { orgId, newApplier, wanted, revisionsQueued, rows, applied } = site;

  it('combines many changes of one schedule into few changes of the queue, and ends with the last', async () => {
    const added: number[] = [];
    const applier = newApplier({
      apply: (schedule) => {
        added.push(schedule.revision);
        return site.queues.apply(schedule);
      },
    });
    let last: number | undefined;
    for (let count = 0; count < 100; count += 1) {
      last = await upsertSchedule(site.pool, wanted({ scheduleType: 'daily', hour: 2, minute: count % 60 }));
      if (count % 40 === 0) applier.wake();
    }
    applier.wake();
    await applied();
    expect(added.at(-1)).toBe(last);
    expect(added.length).toBeLessThan(50);
    expect(await revisionsQueued()).toEqual([last]);
  });

  it('adds the job of an active schedule, removes that of a paused or removed one, and deletes the row of a removed one', async () => {
    const applier = newApplier();
    const given = { orgId, connector, at: new Date() } as const;
    const first = await upsertSchedule(site.pool, wanted());
    applier.wake();
    await applied();
    expect(await revisionsQueued()).toEqual([first]);
    expect(await stopSchedules(site.pool, 'paused', given)).toBe(true);
    applier.wake();
    await applied();
    expect(await revisionsQueued()).toEqual([]);
    const second = await upsertSchedule(site.pool, wanted());
    applier.wake();
    await applied();
    expect(await revisionsQueued()).toEqual([second]);
    expect(await stopSchedules(site.pool, 'removed', given)).toBe(true);
    expect(await findSchedule(site.pool, orgId, connector)).toBeUndefined();
    applier.wake();
    await waitFor(async () => (await rows()).length === 0, { what: 'the end of the row' });
    expect(await revisionsQueued()).toEqual([]);
  });

  it('removes the job of a replaced one-off schedule, and does not look for one where there was none', async () => {
    const scheduledTime = new Date(Date.now() + HOUR_MS).toISOString();
    const removals: boolean[] = [];
    const applier = newApplier({
      clear: (revision, options) => {
        removals.push(options.mayBeOneOff);
        return site.queues.clear(revision, options);
      },
    });
    const replace = async (type?: object) => {
      const revision = await upsertSchedule(site.pool, wanted(type));
      applier.wake();
      await applied();
      return revision ?? 0;
    };
    const oneOff = await replace({ scheduleType: 'once', scheduledTime });
    const { id } = (await findSchedule(site.pool, orgId, connector)) as Schedule;
    expect(await site.view.jobState(connector, toOnceJobId(id, oneOff))).toBe('delayed');
    await replace();
    expect(await site.view.jobState(connector, toOnceJobId(id, oneOff))).toBe('unknown');
    await replace({ scheduleType: 'daily', hour: 3, minute: 0 });
    expect(removals).toEqual([true, false]);
    // It is replaced twice before the applier runs.
    const second = await replace({ scheduleType: 'once', scheduledTime });
    await upsertSchedule(site.pool, wanted());
    await replace({ scheduleType: 'daily', hour: 4, minute: 0 });
    expect(await site.view.jobState(connector, toOnceJobId(id, second))).toBe('unknown');
  });

  it('applies a change that arrives while it is working afterwards', async () => {
    let release = () => undefined as unknown;
    const asked: number[] = [];
    const applier = newApplier({
      async apply(schedule) {
        asked.push(schedule.revision);
        if (asked.length === 1) await new Promise((resolve) => (release = () => resolve(undefined)));
        return site.queues.apply(schedule);
      },
    });
    const first = await upsertSchedule(site.pool, wanted());
    applier.wake();
    await waitFor(() => asked.length === 1, { what: 'the first revision' });
    const second = await upsertSchedule(site.pool, wanted());
    expect(await rows()).toEqual([{ state: 'active', isApplied: false, queued: [first] }]);
    // No other applier can claim the row meanwhile.
    expect(await claimUnapplied(site.pool, 1)).toEqual([]);
    release();
    await applied();
    expect(asked).toEqual([first, second]);
    expect(await revisionsQueued()).toEqual([second]);
  });

  it('keeps the row of a removed schedule that was created again while the job was being removed', async () => {
    let release = () => undefined as unknown;
    let isAsked = false;
    await upsertSchedule(site.pool, wanted());
    const applier = newApplier({
      async clear(revision, options) {
        isAsked = true;
        await new Promise((resolve) => (release = () => resolve(undefined)));
        return site.queues.clear(revision, options);
      },
    });
    newApplier().wake();
    await applied();
    await stopSchedules(site.pool, 'removed', { orgId, connector, at: new Date() });
    applier.wake();
    await waitFor(() => isAsked, { what: 'the removal' });
    const revision = await upsertSchedule(site.pool, wanted());
    release();
    await applied();
    expect(await rows()).toEqual([{ state: 'active', isApplied: true, queued: [] }]);
    expect(await revisionsQueued()).toEqual([revision]);
  });
});
