import { notApplied } from '@platform/service-kit';
import type pg from 'pg';
import { createShares } from '../../shares.js';
import { inTransaction, type Transaction } from '../../transaction.js';
import { createTurns } from '../../turns.js';
import { beginLocked } from './queries.js';

/** Runs `work` in a transaction that holds the lock of the connector's schedule. */
export const inSchedule = <T>(
  pool: pg.Pool,
  orgId: string,
  connector: string,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> => inTransaction(pool, work, beginLocked(orgId, connector));

/** {@link inSchedule} for requests. @throws AppError 503 when too many ask for the same. */
export type ChangeSchedule = <T>(
  orgId: string,
  connector: string,
  work: (tx: Transaction) => Promise<T>,
) => Promise<T>;

const MAX_WAITING = 50;
const WAIT_MS = 1_000;

/**
 * Whoever waits for a schedule's lock does so before taking a connection: one for each schedule, and
 * of one organisation as many as leave some for the next. One is left to those who only read.
 */
export function createScheduleChanges(pool: pg.Pool): ChangeSchedule {
  const limits = { maxWaiting: MAX_WAITING, waitMs: WAIT_MS };
  const ofSchedule = createTurns(limits);
  const ofOrganisation = createShares({ ...limits, places: Math.max(1, pool.options.max - 1) });
  return (orgId, connector, work) =>
    ofSchedule(`${orgId}:${connector}`, () =>
      ofOrganisation(orgId, () => inSchedule(pool, orgId, connector, work)),
    );
}

/** For what is one change: whatever fails before its commit has changed nothing, and says so. */
export const allOrNothing =
  (change: ChangeSchedule): ChangeSchedule =>
  async (orgId, connector, work) => {
    let isReady = false;
    try {
      return await change(orgId, connector, async (tx) => {
        const result = await work(tx);
        isReady = true;
        return result;
      });
    } catch (error) {
      throw isReady ? error : notApplied(error);
    }
  };
