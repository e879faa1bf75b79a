import { randomUUID } from 'node:crypto';
import { HOUR_MS } from '@platform/service-kit';
import { findSchedule, upsertSchedule } from '../../src/db/schedules.js';
import { at, filesOf, useRunRows } from '../support/run-rows.js';

describe('the anchor of an interval', () => {
  const rows = useRunRows();
  const orgId = randomUUID();
  const everyFiveHours = {
    scheduleType: 'hourly',
    minute: 5,
    interval: 5,
    timezone: 'UTC',
    isEnabled: true,
    jitterMs: 0,
    missedRunPolicy: 'run_once',
  } as const;
  const save = (scheduledAt: number, anchorAt: number) =>
    upsertSchedule(
      rows.pool,
      {
        id: randomUUID(),
        ...filesOf(orgId),
        userId: randomUUID(),
        config: everyFiveHours,
        priority: 5,
        maxRetries: 3,
        timeoutMs: 60_000,
        metadata: null,
        worker: 'event',
        fullEveryDays: null,
        endpointId: null,
        scheduledAt: new Date(scheduledAt),
        anchorAt: new Date(anchorAt),
        nextRunAt: new Date(scheduledAt + HOUR_MS),
      },
      null,
    );
  const findAnchor = async () => (await findSchedule(rows.pool, filesOf(orgId)))?.anchorAt.getTime();

  it('is kept by a replacement with the same times', async () => {
    await save(at, at);
    await save(at + HOUR_MS, at);
    expect(await findAnchor()).toBe(at);
  });
});
