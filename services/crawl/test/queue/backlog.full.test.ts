import { randomUUID } from 'node:crypto';
import { waitFor } from '@platform/testing';
import { toOnceJobId, toRunJobId, toSchedulerKey, toTickJobId } from '../../src/queue/job.js';
import { describeEachBackend, type Platform, startPlatform } from '../support/platform.js';
import type { DueJob } from '../support/queue-view.js';

const connector = 'wiki_1';
const MINUTE_MS = 60_000;
const DUE = 10_000;
const FEW = 3;
/** Only ends a hang, because a busy machine needs minutes for the backlog. */
const DRAIN_MS = 600_000;
const scheduleConfig = { scheduleType: 'custom', cronExpression: '* * * * *' };

/** Counts the runs of the organisation that start before that of the other has ended. */
describeEachBackend('10,000 due jobs of one organisation on %s', (backend) => {
  let platform: Platform;
  beforeAll(async () => {
    // No worker is started yet, and the reconciler must not run before the workers.
    platform = await startPlatform({ backend, env: { ROLE: 'api', RECONCILE_INTERVAL_MS: '600000' } });
  });
  afterAll(() => platform.close());

  async function findSchedule(): Promise<{ id: string; revision: number; nextRunAt: Date }> {
    const { rows } = await platform.db.query<{ id: string; revision: number; nextRunAt: Date }>(
      `update schedules set next_run_at = next_run_at - make_interval(mins => $2) where org_id = $1
       returning id, revision::float8 as revision, next_run_at as "nextRunAt"`,
      [platform.admin.orgId, DUE],
    );
    return rows[0] as { id: string; revision: number; nextRunAt: Date };
  }

  /** Ticks of the current schedule, one-off jobs of earlier revisions, and jobs of requested runs that have ended. */
  async function createJobs(count: number): Promise<DueJob[]> {
    const { orgId } = platform.admin;
    const { id: scheduleId, revision, nextRunAt } = await findSchedule();
    const { rows } = await platform.db.query<{ id: string }>(
      `insert into runs (id, schedule_id, revision, org_id, connector, trigger, tick, job_id, state, scheduled_for,
         created_at, finished_at, attempts_max)
       select gen_random_uuid(), $1, $2, $3, $4, 'manual', 'm' || n, '', 'aborted', now(), now(), now(), 4
       from generate_series(0, $5::int - 1) as n where n % 3 = 2 returning id`,
      [scheduleId, revision, orgId, connector, count],
    );
    const runIds = rows.map(({ id }) => id);
    const job = { orgId, connector } as const;
    return Array.from({ length: count }, (_item, index): DueJob => {
      const at = nextRunAt.getTime() + index * MINUTE_MS;
      if (index % 3 === 0) {
        const opts = { repeat: { pattern: scheduleConfig.cronExpression, tz: 'UTC' } };
        const jobId = toTickJobId(toSchedulerKey({ connector, orgId, revision }), at);
        return { data: { ...job, kind: 'tick', scheduleId, revision }, opts: { ...opts, jobId } };
      }
      if (index % 3 === 1) {
        const before = revision - index;
        const jobId = toOnceJobId(scheduleId, before);
        return { data: { ...job, kind: 'once', scheduleId, revision: before, at }, opts: { jobId } };
      }
      const runId = runIds[(index - 2) / 3] ?? randomUUID();
      return { data: { ...job, kind: 'run', runId }, opts: { jobId: toRunJobId(runId, 0) } };
    });
  }

  it('do not delay the run of another organisation by more than a few runs', async () => {
    const quiet = await platform.createOrganisation();
    for (const { token } of [platform.admin, quiet])
      expect(
        (await platform.call('POST', `/${connector}/schedule`, { token, body: { scheduleConfig } })).status,
      ).toBe(201);
    const jobs = await createJobs(DUE);
    expect(await platform.queues.fill(connector, jobs)).toBe(DUE);
    const { token } = quiet;
    const asked = await platform.call('POST', `/${connector}/run`, { token });
    expect(asked.status).toBe(202);
    await platform.addCrawl({ ROLE: 'worker' });
    const end = await waitFor(
      async () => {
        const { rows } = await platform.db.query<{ at: Date }>(
          `select finished_at as at from runs where id = $1 and state = 'completed'`,
          [asked.body.data.runId],
        );
        return rows[0]?.at;
      },
      // The worker reads the whole backlog first.
      { what: "the other's run", patienceMs: DRAIN_MS },
    );
    const { rowCount: begunBefore } = await platform.db.query(
      `select from runs where org_id = $1 and started_at <= $2`,
      [platform.admin.orgId, end],
    );
    expect(begunBefore).toBeGreaterThan(0);
    expect(begunBefore).toBeLessThanOrEqual(FEW);
  });
});
