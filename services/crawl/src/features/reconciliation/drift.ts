import { type Connector, connectors } from '@platform/events';
import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';
import type { CrawlMetrics } from '../../metrics.js';
import { onceJobId, toSchedulerKey, tickJobId } from '../queues/job.js';
import type { CrawlQueues, Scheduler } from '../queues/queues.js';
import { inSchedule } from '../schedules/locked.js';
import { nextRunAfter, createPlan } from '../schedules/plan.js';
import { findSchedule, type Schedule } from '../schedules/queries.js';
import { each } from './each.js';
import {
  countRecurring,
  type ExpectedJob,
  findActivePage,
  findRecurringRevisions,
  setNextRun,
} from './queries.js';
import { isPending } from './watchdog.js';

/*
 * Makes the queue agree with the rows, in both directions, page by page. Each repair takes the
 * schedule's lock and reads the row again, so a change that comes meanwhile is never undone.
 *
 * Comparing all is not free, so a queue is compared when its count of schedulers differs from the
 * rows', and otherwise in turn, one connector type a round. All are compared after a loss of data.
 */

const PAGE = 500;
const REPAIRS_AT_ONCE = 4;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

export interface Drift {
  /** Compares every queue. @returns whether nothing was left out. */
  compareAll(isStopping: () => boolean): Promise<boolean>;
  /** Compares those whose counts differ, and the next in turn. */
  compareSome(isStopping: () => boolean): Promise<void>;
}

interface Comparison {
  readonly changed: number;
  readonly failed: number;
}

export function createDrift(deps: {
  readonly pool: pg.Pool;
  readonly queues: CrawlQueues;
  readonly clock: Clock;
  readonly metrics: CrawlMetrics;
  readonly log: Logger;
}): Drift {
  const { pool, queues, clock, metrics, log } = deps;
  let turn = 0;

  async function repairRow({ orgId, connector }: ExpectedJob): Promise<void> {
    await inSchedule(pool, orgId, connector, async (tx) => {
      const schedule = await findSchedule(tx, orgId, connector);
      if (schedule?.state !== 'active') return;
      // After a clock was set back the row may expect a later time, and would void every tick until then.
      const plan = createPlan(schedule);
      const next = plan.kind === 'recurring' ? nextRunAfter(plan, clock()) : undefined;
      const expected = schedule.nextRunAt?.getTime() ?? 0;
      // A time that has passed is the watchdog's.
      if (next !== undefined && expected > clock() && expected !== next)
        await setNextRun(tx, schedule.id, new Date(next));
      await queues.apply(schedule);
    });
    metrics.repairs.inc({ kind: 'missing_job' });
  }

  /** Returns whether a scheduler of this revision that has an earlier version's key has a job that is due: it is to run first. */
  async function hasDueJob({ key, revision }: Scheduler, schedule: Schedule): Promise<boolean> {
    const expected = schedule.nextRunAt?.getTime();
    if (revision !== schedule.revision || expected === undefined || expected > clock()) return false;
    return isPending(await queues.jobState(schedule.connector, tickJobId(key, expected)));
  }

  /** Removes a scheduler of a revision that no row has, or one that is not ours. @returns whether it was removed. */
  async function removeOrphan(connector: Connector, orphan: Scheduler): Promise<boolean> {
    const { key, orgId } = orphan;
    if (orgId === undefined) {
      await queues.removeScheduler(connector, key);
      return true;
    }
    // Behind the lock, a change that made it has been committed or not.
    const isRemoved = await inSchedule(pool, orgId, connector, async (tx) => {
      const schedule = await findSchedule(tx, orgId, connector);
      const isActive = schedule?.state === 'active';
      if (isActive && (toSchedulerKey(schedule) === key || (await hasDueJob(orphan, schedule)))) return false;
      await queues.removeScheduler(connector, key);
      return true;
    });
    if (isRemoved) metrics.repairs.inc({ kind: 'orphaned_scheduler' });
    return isRemoved;
  }

  async function isInQueue(schedule: ExpectedJob): Promise<boolean> {
    const { id, connector, revision, isRecurring, nextRunAt } = schedule;
    if (isRecurring) return (await queues.findScheduler(connector, toSchedulerKey(schedule))) !== undefined;
    // Past its time it is the watchdog's.
    if (nextRunAt === null || nextRunAt.getTime() <= clock()) return true;
    return isPending(await queues.jobState(connector, onceJobId(id, revision)));
  }

  async function compareRows(connector: Connector, isStopping: () => boolean): Promise<Comparison> {
    let changed = 0;
    let failed = 0;
    for (let afterId = FIRST_ID; !isStopping();) {
      const page = await findActivePage(pool, connector, afterId, PAGE);
      const missing: ExpectedJob[] = [];
      const look = async (schedule: ExpectedJob) => {
        if (!(await isInQueue(schedule))) missing.push(schedule);
      };
      failed += await each(page, look, { log, what: 'a look for a job' });
      failed += await each(missing, repairRow, { log, what: 'the repair of a job', atOnce: REPAIRS_AT_ONCE });
      changed += missing.length;
      const last = page.at(-1);
      if (!last || page.length < PAGE) break;
      afterId = last.id;
    }
    return { changed, failed };
  }

  async function compareSchedulers(connector: Connector, isStopping: () => boolean): Promise<Comparison> {
    let changed = 0;
    let failed = 0;
    for (let offset = 0; !isStopping();) {
      const page = await queues.listSchedulers(connector, offset, PAGE);
      const wanted = await findRecurringRevisions(
        pool,
        connector,
        page.flatMap(({ orgId }) => orgId ?? []),
      );
      const wantedKeys = new Set(wanted.map((row) => toSchedulerKey({ ...row, connector })));
      const orphans = page.filter(({ key }) => !wantedKeys.has(key));
      let removed = 0;
      const remove = async (orphan: Scheduler) => {
        if (await removeOrphan(connector, orphan)) removed += 1;
      };
      failed += await each(orphans, remove, {
        log,
        what: 'the removal of a scheduler',
        atOnce: REPAIRS_AT_ONCE,
      });
      changed += removed;
      if (page.length < PAGE) break;
      offset += page.length - removed;
    }
    return { changed, failed };
  }

  /** @returns whether nothing was left out. */
  async function compare(connector: Connector, isStopping: () => boolean): Promise<boolean> {
    const rows = await compareRows(connector, isStopping);
    const schedulers = await compareSchedulers(connector, isStopping);
    const [repaired, removed] = [rows.changed, schedulers.changed];
    if (repaired + removed > 0)
      log.warn({ connector, repaired, removed }, 'the queue did not agree with the rows: repaired');
    return rows.failed + schedulers.failed === 0 && !isStopping();
  }

  return {
    async compareAll(isStopping) {
      let isComplete = true;
      for (const connector of connectors)
        isComplete = !isStopping() && (await compare(connector, isStopping)) && isComplete;
      return isComplete;
    },
    async compareSome(isStopping) {
      const inTurn = connectors[turn++ % connectors.length];
      for (const connector of connectors) {
        if (isStopping()) return;
        const isSame = (await queues.countSchedulers(connector)) === (await countRecurring(pool, connector));
        if (!isSame || connector === inTurn) await compare(connector, isStopping);
      }
    },
  };
}
