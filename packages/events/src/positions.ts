import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@platform/service-kit';
import type pg from 'pg';
import { createWakeSignal } from './relay/wake-signal.js';

/** @returns how many visible rows received a position; `maxRows` when there may be more. */
export async function assignPositions(pool: Pick<pg.Pool, 'query'>, maxRows: number): Promise<number> {
  const { rows } = await pool.query<{ assigned: number }>({
    name: 'outbox-assign-positions',
    text: 'select sync_events.assign_positions($1) as assigned',
    values: [maxRows],
  });
  return rows[0]?.assigned ?? 0;
}

/** Assigns positions to events in the background, so that no reader has to. */
export interface PositionAssigner {
  start(): void;
  /** Signals that events were committed. Cheap; never throws. */
  wake(): void;
  /** Finishes the current batch and stops. */
  stop(): Promise<void>;
}

/** The size of a batch is limited because readers wait for it. */
const BATCH = 500;
/** The pause between batches, which makes them fewer and larger under load. */
const LINGER_MS = 20;
/** The largest delay of an event whose wake-up was lost with its process. */
const IDLE_MS = 1_000;

/** Creates the assigner of a process that writes events. Several share the work; a leading relay assigns positions itself. */
export function createPositionAssigner({
  pool,
  log,
}: {
  readonly pool: Pick<pg.Pool, 'query'>;
  readonly log: Pick<Logger, 'warn'>;
}): PositionAssigner {
  const wakeSignal = createWakeSignal();
  let running: Promise<void> | undefined;
  const ending = new AbortController();
  let isFailing = false;

  async function assignBatch(): Promise<number> {
    try {
      const assigned = await assignPositions(pool, BATCH);
      isFailing = false;
      return assigned;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'sync events wait for their positions');
      isFailing = true;
      return 0;
    }
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      const assigned = await assignBatch();
      if (assigned === BATCH) continue;
      if (assigned > 0) await delay(LINGER_MS);
      await wakeSignal.sleep(IDLE_MS);
    }
  }

  return {
    start: () => void (running ??= run()),
    wake: () => {
      wakeSignal.wake();
    },
    async stop() {
      ending.abort();
      wakeSignal.wake();
      await running;
    },
  };
}
