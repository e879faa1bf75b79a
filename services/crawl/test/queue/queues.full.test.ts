import { waitFor } from '@platform/testing';
import type { Job, Queue } from 'bullmq';
import { toQueueName } from '../../src/domain/connectors.js';
import { nextRunsAfter, createPlan } from '../../src/domain/plan.js';
import type { Schedule } from '../../src/domain/schedule.js';
import type { QueueBackend } from '../../src/queue/backend.js';
import { toOnceJobId, toSchedulerKey, toTickJobId } from '../../src/queue/job.js';
import type { CrawlQueues } from '../../src/queue/queues.js';
import { repeatSettings } from '../../src/queue/schedule-jobs.js';
import { describeEachBackend } from '../support/platform.js';
import { connector, newSchedule, openTestQueues, type TestQueues } from '../support/test-queues.js';

const everything = { mayBeOneOff: true, kept: null };

const toSchedule = (type: object, nextRunAt: Date): Schedule => ({
  ...newSchedule(type, nextRunAt),
  state: 'active',
  revision: 1,
  pausedAt: null,
  overdueSince: null,
  missedRuns: 0,
});

describeEachBackend('the queues on %s', (backend) => {
  let testQueues: TestQueues;
  let queueBackend: QueueBackend;
  let queues: CrawlQueues;
  let aheadMs = 0;
  beforeAll(async () => {
    testQueues = await openTestQueues(backend, { clock: () => Date.now() + aheadMs });
    ({ queueBackend, queues } = testQueues);
  });
  afterAll(() => testQueues.close());
  beforeEach(() => (aheadMs = 0));

  it('a schedule runs at its next time although the clock was set back past a run that it has had', async () => {
    const schedule = toSchedule({ scheduleType: 'monthly', dayOfMonth: 1, hour: 0, minute: 0 }, new Date());
    const times = nextRunsAfter(createPlan(schedule), Date.now(), 2);
    const toTick = (revision: number, index: number) =>
      toTickJobId(toSchedulerKey({ ...schedule, revision }), times[index] ?? 0);
    const queue = queueBackend.queue(toQueueName(connector), { settings: repeatSettings }) as Queue;
    // The job of the scheduler, which cannot be removed on either backend, is delivered early.
    await queues.apply(schedule);
    const first = (await queue.getJob(toTick(1, 0))) as Job;
    await first.promote();
    const worker = queueBackend.worker(toQueueName(connector), () => Promise.resolve(), {
      settings: repeatSettings,
    });
    await waitFor(async () => (await queues.jobState(connector, toTick(1, 0))) === 'completed', {
      what: 'the first run',
    });
    await worker.close();
    // The scheduler is lost and created again: the first time has had its job, the second has not.
    await queues.clear(schedule, everything);
    await queues.apply(schedule);
    expect(await queues.jobState(connector, toTick(1, 0))).toBe('completed');
    expect(await queues.jobState(connector, toTick(1, 1))).toBe('delayed');
    // A later revision has jobs of its own for the same times.
    const replaced = { ...schedule, revision: 2 };
    await queues.apply(replaced);
    await queues.clear(schedule, everything);
    expect(await queues.jobState(connector, toTick(2, 0))).toBe('delayed');
    expect(await queues.jobState(connector, toTick(1, 1))).toBe('unknown');
    expect([await queues.has(schedule), await queues.has(replaced)]).toEqual([false, true]);
    await queues.clear(replaced, everything);
    await queue.close();
  });

  it('removes the job scheduler that created a given tick', async () => {
    const schedule = toSchedule({ scheduleType: 'daily', hour: 2, minute: 15 }, new Date());
    await queues.apply(schedule);
    const [at = 0] = nextRunsAfter(createPlan(schedule), Date.now(), 1);
    const tick = toTickJobId(toSchedulerKey(schedule), at);
    expect(await queues.removeTickScheduler(connector, tick)).toBe(true);
    expect(await queues.has(schedule)).toBe(false);
    expect(await queues.removeTickScheduler(connector, tick)).toBe(false);
  });

  it('a one-off job becomes due by the clock of the service', async () => {
    aheadMs = 3_600_000;
    const nextRunAt = new Date(Date.now() + aheadMs - 1);
    const schedule = toSchedule({ scheduleType: 'once', scheduledTime: nextRunAt.toISOString() }, nextRunAt);
    await queues.apply(schedule);
    expect(await queues.jobState(connector, toOnceJobId(schedule.id, 1))).toBe('waiting');
  });
});
