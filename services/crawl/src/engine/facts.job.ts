import { type Fact, FactsRefused, MAX_FACTS } from '@platform/auth';
import { type Clock, createPeriodicTask, HOUR_MS, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { deleteFacts, postponeFact, takeFacts } from '../db/facts.js';

const INTERVAL_MS = 1_000;
/** Longer than the time limit of a request to identity. */
const RETRY_AFTER_MS = 15_000;

/**
 * Hands what happened here to identity, which keeps the audit and mails the administrators. The statement that causes a fact
 * stores it, and it is deleted once identity has stored it: none is lost, and when an answer was, it is handed over again.
 */
export function createFactsRelay(deps: {
  readonly pool: pg.Pool;
  readonly handOver: (facts: readonly Fact[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}) {
  const { pool, handOver, clock, log } = deps;

  /** Hands facts over; one by one if identity refuses some of them, so that these keep no other waiting. */
  async function deliver(facts: readonly Fact[]): Promise<void> {
    try {
      await handOver(facts);
    } catch (error) {
      if (!(error instanceof FactsRefused)) throw error;
      const [fact, ...others] = facts;
      if (!fact) return;
      if (others.length > 0) {
        for (const one of facts) await deliver([one]);
        return;
      }
      const { id, type, orgId } = fact;
      log.error({ err: error, fact: id, type, orgId }, 'identity refuses a fact; will retry in an hour');
      await postponeFact(pool, fact, new Date(clock() + HOUR_MS));
      return;
    }
    await deleteFacts(pool, facts);
  }

  /** @returns whether there may be more: after a failure, the rest waits for the next round. */
  async function relay(): Promise<boolean> {
    const now = clock();
    const facts = await takeFacts(pool, new Date(now), new Date(now + RETRY_AFTER_MS));
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
      while (!stopping.aborted && (await relay()));
    },
    onError: (error) => {
      log.warn({ err: error }, 'failed to read what is to be reported to identity; will retry');
    },
  });
}
