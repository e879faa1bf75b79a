import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@platform/service-kit';
import type pg from 'pg';
import { createWakeSignal } from './relay/wake-signal.js';

/** @returns how many visible rows got their position: `maxRows` when there may be more. */
export async function assignPositions(pool: Pick<pg.Pool, 'query'>, maxRows: number): Promise<number> {
  const { rows } = await pool.query<{ assigned: number }>({
    name: 'outbox-assign-positions',
    text: 'select sync_events.assign_positions($1) as assigned',
    values: [maxRows],
  });
  return rows[0]?.assigned ?? 0;
}

/** Gives events their positions in the background, so that no reader has to. */
export interface PositionAssigner {
  start(): void;
  /** Says that events were committed. Cheap and never throws. */
  wake(): void;
  /** Finishes the batch under way. */
  stop(): Promise<void>;
}

/** Others wait for a batch, readers among them. */
const BATCH = 500;
/** Under load: fewer, larger batches. */
const LINGER_MS = 20;
/** Should a wake-up be lost with its process, this is how late an event is. */
const IDLE_MS = 1_000;

/** One per process that writes events; several share the work. A relay that leads does the same on its way. */
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
