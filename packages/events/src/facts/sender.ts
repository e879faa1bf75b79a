import {
  type Clock,
  createPeriodicTask,
  DAY_MS,
  type Logger,
  type PeriodicTask,
  type Shutdown,
} from '@platform/service-kit';
import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';
import { FACTS_PATH, MAX_FACTS } from './protocol.js';

/*
 * The facts of another service for identity. The statement that causes a fact stores it in the table `facts` of the
 * service, and it is deleted once identity has stored it: none is lost, and when an answer was, it is handed over again.
 */

/** A row of the table `facts`. */
interface StoredFact {
  readonly id: string;
  readonly orgId: string;
  readonly type: string;
  readonly data: unknown;
  /** ISO 8601. */
  readonly at: string;
}

const INTERVAL_MS = 1_000;
/** Longer than the time limit of a request to identity. */
const RETRY_AFTER_MS = 15_000;
const REFUSED_RETRY_MS = 3_600_000;
/** As long as the feed has facts. An entry of the audit is kept until identity takes it. */
const REFUSED_KEPT_MS = 14 * DAY_MS;

/** Returns the oldest facts that are due, and leaves them to this replica until `until`. */
async function takeFacts(db: pg.Pool, now: Date, until: Date, limit: number): Promise<StoredFact[]> {
  const { rows } = await db.query<StoredFact & { readonly createdAt: Date }>({
    name: 'take_facts',
    text: `update facts set due_at = $2 where id = any(array(
             select id from facts where due_at <= $1 order by due_at, id limit $3 for update skip locked))
           returning id, org_id as "orgId", type, data, created_at as "createdAt"`,
    values: [now, until, limit],
  });
  // In one order on every replica, which inserts them: in different ones, two could wait for each other.
  const facts = rows.toSorted(
    (one, other) => one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1),
  );
  return facts.map(({ createdAt, ...fact }) => ({ ...fact, at: createdAt.toISOString() }));
}

const postponeFact = (db: pg.Pool, id: string, until: Date): Promise<unknown> =>
  db.query({
    name: 'postpone_fact',
    text: 'update facts set due_at = $2 where id = $1',
    values: [id, until],
  });

const deleteFacts = (db: pg.Pool, facts: readonly StoredFact[]): Promise<unknown> =>
  db.query({
    name: 'delete_facts',
    text: 'delete from facts where id = any($1::uuid[])',
    values: [facts.map(({ id }) => id)],
  });

/** Registers how long the oldest fact waits; facts are handed over roughly in the order in which they are due. */
function registerAge(registry: Registry, pool: pg.Pool, clock: Clock, log: Logger): void {
  const age = new Gauge({
    name: 'platform_facts_oldest_age_seconds',
    help: 'How long the oldest fact that identity has not stored has been waiting. The same on every replica.',
    registers: [registry],
    /** It is NaN when the database fails, so that a scrape still returns the other metrics. */
    async collect() {
      try {
        const { rows } = await pool.query<{ oldest: Date | null }>({
          name: 'oldest_fact',
          text: `select min(created_at) as oldest from (
                   select created_at from facts order by due_at, id limit 1000) waiting`,
        });
        const oldest = rows[0]?.oldest?.getTime();
        age.set(oldest === undefined ? 0 : Math.max(0, clock() - oldest) / 1_000);
      } catch (error) {
        log.warn({ err: error }, 'failed to read how long facts wait; the metric is NaN');
        age.set(Number.NaN);
      }
    },
  });
}

export interface FactSenderDeps {
  readonly pool: pg.Pool;
  /** Posts JSON to identity as this service, and returns the status; rejects without an answer. */
  readonly report: (path: string, body: object) => Promise<number>;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Statuses with which identity says that it will not store one of the facts, however often it is asked. */
const refusals = new Set([400, 403, 413]);

/** Creates the task that hands the facts of a service to identity. Tests run it alone; services start it. */
export function createFactSender(deps: FactSenderDeps): PeriodicTask {
  const { pool, report, registry, clock, log } = deps;
  registerAge(registry, pool, clock, log);

  /** Hands facts over. Facts that identity refuses are found by bisection, so that they delay no others. */
  async function deliver(facts: readonly StoredFact[]): Promise<void> {
    const status = await report(FACTS_PATH, { facts });
    if (refusals.has(status)) {
      const half = Math.ceil(facts.length / 2);
      if (half < facts.length) {
        await deliver(facts.slice(0, half));
        await deliver(facts.slice(half));
        return;
      }
      const [fact] = facts;
      const { id, type, orgId, at } = fact as StoredFact;
      const isKept = type === 'audit.entry' || clock() - Date.parse(at) < REFUSED_KEPT_MS;
      log.error({ status, fact: id, type, orgId, isKept }, 'identity refuses a fact');
      if (isKept) return void (await postponeFact(pool, id, new Date(clock() + REFUSED_RETRY_MS)));
    } else if (status !== 200) throw new Error(`identity answered ${status} to facts of this service`);
    await deleteFacts(pool, facts);
  }

  /** @returns whether there may be more: after a failure, the rest waits for the next round. */
  async function send(): Promise<boolean> {
    const now = clock();
    const facts = await takeFacts(pool, new Date(now), new Date(now + RETRY_AFTER_MS), MAX_FACTS);
    if (facts.length === 0) return false;
    try {
      await deliver(facts);
    } catch (error) {
      log.warn({ err: error, facts: facts.length }, 'failed to report to identity; will retry');
      return false;
    }
    return facts.length === MAX_FACTS;
  }

  return createPeriodicTask({
    intervalMs: INTERVAL_MS,
    async run(stopping) {
      while (!stopping.aborted && (await send()));
    },
    onError: (error) => {
      log.warn({ err: error }, 'failed to read what is to be reported to identity; will retry');
    },
  });
}

/** Hands the facts of a service to identity until the shutdown. */
export function startFactSender(deps: FactSenderDeps & { readonly shutdown: Pick<Shutdown, 'on'> }): void {
  const sender = createFactSender(deps);
  sender.start();
  deps.shutdown.on('workers', 'facts', sender.stop);
}
