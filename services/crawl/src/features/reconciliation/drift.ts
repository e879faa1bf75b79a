import { type Connector, connectors } from '@platform/events';
import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';
import { validate as isUuid } from 'uuid';
import { jobKeyOf } from '../../connectors.js';
import type { CrawlMetrics } from '../../metrics.js';
import { onceJobId } from '../queues/job.js';
import type { CrawlQueues, Scheduler } from '../queues/queues.js';
import { inSchedule } from '../schedules/locked.js';
import { nextRunAfter, planOf } from '../schedules/plan.js';
import { findSchedule } from '../schedules/queries.js';
import { each } from './each.js';
import { countRecurring, expectBy, type ExpectedJob, findActivePage, findRecurringOrgs } from './queries.js';
import { isPending } from './watchdog.js';

/*
 * Makes the queue agree with the rows, in both directions, page by page. Each repair takes the
 * schedule's lock and reads the row again, so a change that comes meanwhile is never undone.
 *
 * Comparing all is not free, so a queue is compared when its count of schedulers differs from the
 * rows' (a flush, a lost key), and otherwise in turn, one connector type a round.
 */

const PAGE = 500;
const REPAIRS_AT_ONCE = 4;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const UUID_LENGTH = 36;

export interface Drift {
  /** Compares every queue. */
  compareAll(isStopping: () => boolean): Promise<void>;
  /** Compares those whose counts differ, and the next in turn. */
  compareSome(isStopping: () => boolean): Promise<void>;
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
      const plan = planOf(schedule.config, jobKeyOf(connector, orgId));
      const next = plan.kind === 'recurring' ? nextRunAfter(plan, clock()) : undefined;
      if (next !== undefined && schedule.nextRunAt && schedule.nextRunAt.getTime() > next)
        await expectBy(tx, schedule.id, new Date(next));
      await queues.apply(schedule);
    });
    metrics.repairs.inc({ kind: 'missing_job' });
  }

  async function removeOrphan(connector: Connector, { key }: Scheduler): Promise<void> {
    const orgId = key.slice(-UUID_LENGTH);
    // Of nobody's making here.
    if (!isUuid(orgId)) {
      await queues.removeScheduler(connector, key);
      return;
    }
    await inSchedule(pool, orgId, connector, async (tx) => {
      const schedule = await findSchedule(tx, orgId, connector);
      const isWanted = schedule?.state === 'active' && schedule.config.scheduleType !== 'once';
      if (!isWanted) await queues.removeScheduler(connector, key);
    });
    metrics.repairs.inc({ kind: 'orphaned_scheduler' });
  }

  async function isInQueue({
    id,
    orgId,
    connector,
    revision,
    isRecurring,
    nextRunAt,
  }: ExpectedJob): Promise<boolean> {
    if (isRecurring) {
      const scheduler = await queues.findScheduler(connector, jobKeyOf(connector, orgId));
      return scheduler?.scheduleId === id && scheduler.revision === revision;
    }
    // Past its time it is the watchdog's.
    if (nextRunAt === null || nextRunAt.getTime() <= clock()) return true;
    return isPending(await queues.jobState(connector, onceJobId(id, revision)));
  }

  async function compareRows(connector: Connector, isStopping: () => boolean): Promise<number> {
    let repaired = 0;
    for (let afterId = FIRST_ID; !isStopping();) {
      const page = await findActivePage(pool, connector, afterId, PAGE);
      const missing: ExpectedJob[] = [];
      const look = async (schedule: ExpectedJob) => {
        if (!(await isInQueue(schedule))) missing.push(schedule);
      };
      await each(page, look, { log, what: 'a look for a job' });
      await each(missing, repairRow, { log, what: 'the repair of a job', atOnce: REPAIRS_AT_ONCE });
      repaired += missing.length;
      const last = page.at(-1);
      if (!last || page.length < PAGE) break;
      afterId = last.id;
    }
    return repaired;
  }

  async function compareSchedulers(connector: Connector, isStopping: () => boolean): Promise<number> {
    let removed = 0;
    for (let offset = 0; !isStopping();) {
      const page = await queues.listSchedulers(connector, offset, PAGE);
      const wanted = await findRecurringOrgs(
        pool,
        connector,
        page.map(({ key }) => key.slice(-UUID_LENGTH)).filter((orgId) => isUuid(orgId)),
      );
      const orphans = page.filter(({ key }) => !wanted.has(key.slice(-UUID_LENGTH)));
      const before = removed;
      const remove = async (orphan: Scheduler) => {
        await removeOrphan(connector, orphan);
        removed += 1;
      };
      await each(orphans, remove, { log, what: 'the removal of a scheduler', atOnce: REPAIRS_AT_ONCE });
      if (page.length < PAGE) break;
      offset += page.length - (removed - before);
    }
    return removed;
  }

  async function compare(connector: Connector, isStopping: () => boolean): Promise<void> {
    const repaired = await compareRows(connector, isStopping);
    const removed = await compareSchedulers(connector, isStopping);
    if (repaired + removed > 0)
      log.warn({ connector, repaired, removed }, 'the queue did not agree with the rows: repaired');
  }

  return {
    async compareAll(isStopping) {
      for (const connector of connectors) if (!isStopping()) await compare(connector, isStopping);
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
