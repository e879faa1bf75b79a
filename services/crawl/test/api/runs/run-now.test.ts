import { dependencyUnavailable } from '@platform/service-kit';
import { createRunService } from '../../../src/api/runs/service.js';
import type { DueRun } from '../../../src/db/runs.js';
import { pauseSchedule } from '../../../src/db/schedules.js';
import { createPrisma } from '../../../src/db/prisma.js';
import { actor, expectClaimed, filesOf, useRunRows } from '../../support/run-rows.js';

/* The command that adds the job of a requested run times out but is carried out nevertheless. */

describe('a run that is requested while the queue fails', () => {
  const rows = useRunRows();

  /** @param meanwhile - called between the command and its timeout. */
  const request = (schedule: { readonly orgId: string }, meanwhile: (run: DueRun) => Promise<unknown>) =>
    createRunService({
      pool: rows.pool,
      prisma: createPrisma(rows.pool),
      clock: () => rows.now,
      queues: {
        add: async ([run]) => {
          if (run) await meanwhile(run);
          throw dependencyUnavailable('queue', new Error('Command timed out'));
        },
      },
      onClaimable: () => undefined,
    }).request(filesOf(schedule.orgId), {
      requestId: 'request-1',
      mode: undefined,
      requestedBy: { id: schedule.orgId, name: 'Ada' },
      actor,
    });

  it('leaves no run', async () => {
    const schedule = await rows.scheduleDaily();
    await expect(request(schedule, () => Promise.resolve())).rejects.toMatchObject({ statusCode: 503 });
    expect(await rows.getRuns(schedule.id)).toEqual([]);
    // The audit says both.
    const { rows: facts } = await rows.pool.query(
      `select data ->> 'action' as action from facts where org_id = $1 order by 1 desc`,
      [schedule.orgId],
    );
    expect(facts).toEqual([{ action: 'crawl_run.requested' }, { action: 'crawl_run.cancelled' }]);
  });

  it('is accepted when a worker has claimed it before the timeout', async () => {
    const schedule = await rows.scheduleDaily();
    let runId = '';
    const answer = await request(schedule, async (run) => {
      runId = expectClaimed(await rows.newLifecycle().claim(run)).id;
    });
    expect(answer).toMatchObject({ runId });
    expect(await rows.getRuns(schedule.id)).toMatchObject([{ state: 'active' }]);
  });

  it('leaves no run when the schedule is paused meanwhile', async () => {
    const schedule = await rows.scheduleDaily();
    const pause = () =>
      pauseSchedule(rows.pool, { orgId: schedule.orgId, connector: 'files_1', at: new Date(rows.now) }, null);
    await expect(request(schedule, pause)).rejects.toMatchObject({ statusCode: 503 });
    expect(await rows.getRuns(schedule.id)).toEqual([]);
  });
});
