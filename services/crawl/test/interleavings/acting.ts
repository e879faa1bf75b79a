import { randomUUID } from 'node:crypto';
import type { Connector } from '@platform/events';
import { createLogger } from '@platform/service-kit';
import { type Act as ActIn, type Outcomes, startActing } from '@platform/testing';
import pg from 'pg';
import { Registry } from 'prom-client';
import { createWaitingWorkers } from '../../src/api/work/waiting-workers.js';
import { recordHeartbeat, type WorkContext } from '../../src/api/work/service.js';
import { createWorkerSightings } from '../../src/api/work/worker-sightings.js';
import { cancelRun } from '../../src/db/cancel-run.js';
import { type ClaimedRow, claimWork } from '../../src/db/claim-runs.js';
import { insertHook } from '../../src/db/hooks.js';
import { type NewSchedule, pauseSchedule, upsertSchedule } from '../../src/db/schedules.js';
import type { InstanceKey } from '../../src/domain/instance-key.js';
import { createDispatcher } from '../../src/engine/dispatcher.job.js';
import { createCrawlMetrics } from '../../src/engine/metrics.js';
import { createRunLifecycle } from '../../src/engine/run-lifecycle.js';
import { createCrawlDatabase } from '../support/database.js';
import { actor, at, times, toNewSchedule } from '../support/run-rows.js';

/*
 * An organisation whose schedules, runs and workers meet. Each actor has the parts of the service over connections of its
 * own, which the explorer steps. Before each interleaving, the database is what it was.
 */

/** The credential that claims and reports. */
export const HOLDER = 'holder';

/** Makes the parts of the service. @param now - the time of the clock, in epoch ms. */
function createParts(pool: pg.Pool, now: number = at) {
  const clock = () => now;
  const lifecycle = createRunLifecycle({
    pool,
    clock,
    times,
    concurrency: 1,
    failingAfter: 1,
    onEvent: () => undefined,
  });
  const work: WorkContext = {
    pool,
    clock,
    lifecycle,
    leaseMs: times.leaseMs,
    waiting: createWaitingWorkers(),
    recordSighting: createWorkerSightings({ pool, clock }),
    onClaimable: () => undefined,
  };
  return {
    pool,
    lifecycle,
    work,
    /** Does a round of the dispatcher. */
    async dispatch(): Promise<void> {
      let logged = '';
      const log = createLogger('test', 'warn', { write: (line) => void (logged += line) });
      const dispatcher = createDispatcher({
        pool,
        queues: { announce: () => Promise.resolve() },
        clock,
        metrics: createCrawlMetrics(new Registry()),
        log,
        concurrency: 1,
        overdueGraceMs: times.overdueGraceMs,
        misfireGraceMs: times.misfireGraceMs,
        renewLeases: async () => undefined,
        onClaimable: () => undefined,
      });
      try {
        await dispatcher.run();
      } finally {
        await dispatcher.stop();
      }
      // It goes on after a fault, which an exploration must not miss.
      if (logged.includes('Failed')) throw new Error(logged);
    },
    /** The same parts at another time. */
    later: (ms: number) => createParts(pool, now + ms),
  };
}

export type Parts = ReturnType<typeof createParts>;

/** Makes the organisation. */
async function createWorld(pool: pg.Pool) {
  const orgId = randomUUID();
  const key = (connector: Connector, instance = 'default'): InstanceKey => ({ orgId, connector, instance });
  const save = async (of: InstanceKey, fields: Partial<NewSchedule> = {}) => {
    const schedule = { ...toNewSchedule(of), maxRetries: 1, ...fields };
    await upsertSchedule(pool, schedule, null);
    return schedule;
  };
  const parts = createParts(pool);
  const runOf = async ({ id }: { readonly id: string }) => {
    const { rows } = await pool.query<{ id: string }>('select id from runs where schedule_id = $1', [id]);
    return rows[0]?.id ?? '';
  };
  const claimed = (run: ClaimedRow | undefined): ClaimedRow => {
    if (!run) throw new Error('nothing was claimed');
    return run;
  };

  const claimPulled = (connector: Connector) =>
    claimWork(pool, {
      orgId,
      connectors: [connector],
      instances: undefined,
      worker: 'first',
      at: new Date(at),
      leaseUntil: new Date(at + times.leaseMs),
      lease: 'first',
      holder: HOLDER,
    });

  // A worker that pulls has claimed a run, and reported a checkpoint.
  const pulled = await save(key('files_1'), { worker: 'pull' });
  // The only run of a one-off schedule is active.
  const once = await save(key('db_1'), {
    config: {
      timezone: 'UTC',
      isEnabled: true,
      jitterMs: 0,
      missedRunPolicy: 'run_once',
      scheduleType: 'once',
      scheduledTime: new Date(at).toISOString(),
    },
  });
  await parts.dispatch();
  const run = claimed(await claimPulled('files_1'));
  await recordHeartbeat(
    parts.work,
    { orgId, runId: run.id, holder: HOLDER, connectors: undefined },
    { lease: run.lease, checkpoint: '1' },
  );
  const onceRun = claimed(await parts.lifecycle.claim('db_1'));
  // The worker of a run that was cancelled has yet to learn of it.
  await save(key('suite_1'), { worker: 'pull' });
  await parts.dispatch();
  const cancelled = claimed(await claimPulled('suite_1'));
  await recordHeartbeat(
    parts.work,
    { orgId, runId: cancelled.id, holder: HOLDER, connectors: undefined },
    { lease: cancelled.lease, checkpoint: '1' },
  );
  await cancelRun(pool, { ...key('suite_1'), runId: cancelled.id }, new Date(at), null);
  // Two runs wait for the only place of their connector.
  const waiting = await save(key('wiki_1'));
  await save({ ...key('wiki_1'), orgId: randomUUID() });
  await parts.dispatch();
  // A schedule is due, and another one is paused.
  const due = await save(key('mail_1'));
  const paused = await save(key('chat_1'));
  await pauseSchedule(pool, { ...key('chat_1'), at: new Date(at) }, null);
  const hookId = randomUUID();
  const hook = {
    ...key('files_1'),
    id: hookId,
    kind: 'bearer',
    description: '',
    secretsSealed: 'sealed',
  } as const;
  const by = { actor, at: new Date(at) };
  await insertHook(pool, { ...hook, createdBy: actor.actorId, createdAt: new Date(at) }, 10, by);
  return {
    orgId,
    key,
    run,
    cancelled,
    onceRun,
    once,
    waitingRunId: await runOf(waiting),
    due,
    paused,
    pulled,
    hookId,
  };
}

export type World = Awaited<ReturnType<typeof createWorld>>;

export type Act = ActIn<Parts, World>;

const inProgress = `r.state in ('waiting', 'active', 'retrying')`;
const itsSchedule = `s.org_id = r.org_id and s.connector = r.connector and s.instance = r.instance`;

/** What holds at any time, as queries that find nothing. */
const invariants = {
  'a run of a paused schedule goes on': `
    select from runs r join schedules s on ${itsSchedule} where s.state = 'paused' and ${inProgress}`,
  'a run without a schedule goes on': `
    select from runs r where ${inProgress} and not exists (select from schedules s where ${itsSchedule})`,
  'a count is not that of the runs': `
    select from (select org_id, connector, completed, failed from org_statistics) c
      full join (
        select org_id, connector, count(*) filter (where state = 'completed') as completed,
          count(*) filter (where state = 'failed') as failed
        from runs where state in ('completed', 'failed') group by 1, 2) r using (org_id, connector)
    where (coalesce(c.completed, 0), coalesce(c.failed, 0)) is distinct from (coalesce(r.completed, 0), coalesce(r.failed, 0))`,
  'a completed run has not one event': `
    select from runs r where (r.state = 'completed') <> exists (select from outbox.events e where e.cause = r.id::text)`,
  'the end of a run is not one fact': `
    select from runs r where r.state in ('completed', 'failed', 'aborted')
      and (select count(*) from facts f where f.type like 'crawl.run.%' and f.data ->> 'runId' = r.id::text) <> 1`,
  'a one-off schedule goes on after its run': `
    select from runs r join schedules s on ${itsSchedule} and s.revision = r.revision
    where s.state = 'active' and s.config ->> 'scheduleType' = 'once' and r.trigger in ('schedule', 'missed')
      and not ${inProgress}`,
  'more runs are active than the connector has places': `
    select connector from runs where state = 'active' and worker <> 'pull' group by 1 having count(*) > 1`,
};

/** Starts the organisation for the explorations of a file. */
export async function startCrawlActs() {
  const database = await createCrawlDatabase();
  const db = new pg.Pool({ connectionString: database.url, max: 2 });
  const acting = await startActing({
    databaseUrl: database.url,
    db,
    world: await createWorld(db),
    connect: (pool) => createParts(pool),
    invariants,
    check(outcomes: Outcomes) {
      const ends = Object.values(outcomes).filter((outcome) => outcome?.value === ENDED);
      if (ends.length > 1) throw new Error('two workers have ended one run');
    },
    mayFail: ['LEASE_LOST', 'NOT_FOUND', 'REFUSED'],
    share: 0.2,
  });
  return {
    explore: acting.explore,
    async close(): Promise<void> {
      await acting.close();
      await db.end();
      await database.drop();
    },
  };
}

/** The answer of an act that has ended the run of the worker that pulls. */
export const ENDED = 'ended';
