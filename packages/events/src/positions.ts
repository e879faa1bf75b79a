import { setTimeout as delay } from 'node:timers/promises';
import { createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';

/** @returns how many visible rows received a position; `maxRows` when there may be more. */
export async function assignPositions(pool: Pick<pg.Pool, 'query'>, maxRows: number): Promise<number> {
  const { rows } = await pool.query<{ assigned: number }>({
    name: 'outbox-assign-positions',
    text: 'select outbox.assign_positions($1) as assigned',
    values: [maxRows],
  });
  return rows[0]?.assigned ?? 0;
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
}) {
  let isFailing = false;

  const assigning = createPeriodicTask({
    intervalMs: IDLE_MS,
    async run(stopping) {
      let assigned = BATCH;
      while (assigned === BATCH && !stopping.aborted) assigned = await assignPositions(pool, BATCH);
      isFailing = false;
      if (assigned > 0) await delay(LINGER_MS);
    },
    onError(error) {
      if (!isFailing) log.warn({ err: error }, 'failed to assign positions to events; will retry');
      isFailing = true;
    },
  });

  return {
    start(): void {
      assigning.start();
      assigning.wake();
    },

    /** Signals that events were committed. Cheap; never throws. */
    wake: assigning.wake,

    /** Finishes the current batch and stops. */
    stop: assigning.stop,
  };
}

/** Assigns positions to events in the background, so that no reader has to. */
export type PositionAssigner = ReturnType<typeof createPositionAssigner>;
