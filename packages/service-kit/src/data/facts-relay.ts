import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../clock.js';
import { createPeriodicTask, type PeriodicTask } from '../concurrency/periodic-task.js';
import type { Logger } from '../telemetry/logging.js';

/*
 * What identity is to learn of another service. The statement that causes a fact stores it in the table `facts` of the
 * service, and it is deleted once identity has stored it: none is lost, and when an answer was, it is handed over again.
 */

/** A row of the table `facts`. */
export interface StoredFact {
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

/** Returns the oldest facts that are due, and leaves them to this replica until `until`. */
async function takeFacts(db: pg.Pool, now: Date, until: Date, limit: number): Promise<StoredFact[]> {
  const { rows } = await db.query<StoredFact & { readonly createdAt: Date }>({
    name: 'take_facts',
    text: `update facts set due_at = $2 where id in (
             select id from facts where due_at <= $1 order by due_at, id limit $3 for update skip locked)
           returning id, org_id as "orgId", type, data, created_at as "createdAt"`,
    values: [now, until, limit],
  });
  // In one order on every replica, which inserts them: in different ones, two could wait for each other.
  const facts = rows.toSorted(
    (one, other) => one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1),
  );
  return facts.map(({ createdAt, ...fact }) => ({ ...fact, at: createdAt.toISOString() }));
}

const postponeFact = (db: pg.Pool, { id }: StoredFact, until: Date): Promise<unknown> =>
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
function registerAge(registry: Registry, pool: pg.Pool, clock: Clock): void {
  const age = new Gauge({
    name: 'facts_oldest_age_seconds',
    help: 'How long the oldest fact that identity has not stored has been waiting. The same on every replica.',
    registers: [registry],
    async collect() {
      const { rows } = await pool.query<{ oldest: Date | null }>({
        name: 'oldest_fact',
        text: `select min(created_at) as oldest from (
                 select created_at from facts order by due_at, id limit 1000) waiting`,
      });
      const oldest = rows[0]?.oldest?.getTime();
      age.set(oldest === undefined ? 0 : Math.max(0, clock() - oldest) / 1_000);
    },
  });
}

/** Creates the task that hands the facts of a service to identity. */
export function createFactsRelay(deps: {
  readonly pool: pg.Pool;
  /** Rejects when identity has not stored them. */
  readonly handOver: (facts: readonly StoredFact[]) => Promise<void>;
  /** Whether identity will not store one of the facts, however often it is asked. */
  readonly isRefusal: (error: unknown) => boolean;
  /** The largest number of facts that is handed over at once. */
  readonly maxFacts: number;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Logger;
}): PeriodicTask {
  const { pool, handOver, isRefusal, maxFacts, registry, clock, log } = deps;
  registerAge(registry, pool, clock);

  /** Hands facts over; one by one if identity refuses some of them, so that these keep no other waiting. */
  async function deliver(facts: readonly StoredFact[]): Promise<void> {
    try {
      await handOver(facts);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const [fact, ...others] = facts;
      if (!fact) return;
      if (others.length > 0) {
        for (const one of facts) await deliver([one]);
        return;
      }
      const { id, type, orgId } = fact;
      log.error({ err: error, fact: id, type, orgId }, 'identity refuses a fact; will retry in an hour');
      await postponeFact(pool, fact, new Date(clock() + REFUSED_RETRY_MS));
      return;
    }
    await deleteFacts(pool, facts);
  }

  /** @returns whether there may be more: after a failure, the rest waits for the next round. */
  async function relay(): Promise<boolean> {
    const now = clock();
    const facts = await takeFacts(pool, new Date(now), new Date(now + RETRY_AFTER_MS), maxFacts);
    if (facts.length === 0) return false;
    try {
      await deliver(facts);
    } catch (error) {
      log.warn({ err: error, facts: facts.length }, 'failed to report to identity; will retry');
      return false;
    }
    return facts.length === maxFacts;
  }

  return createPeriodicTask({
    intervalMs: INTERVAL_MS,
    async run(stopping) {
      while (!stopping.aborted && (await relay()));
    },
    onError: (error) => {
      log.warn({ err: error }, 'failed to read what is to be reported to identity; will retry');
    },
  });
}
