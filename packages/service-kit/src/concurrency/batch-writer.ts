import type { Logger } from '../telemetry/logging.js';
import { createPeriodicTask } from './periodic-task.js';

export interface BatchWriterOptions<T> {
  /** What is written, for the log, such as `last-used times`. */
  readonly what: string;
  /** Writes items in one statement. It is repeated with the same items when its outcome is unknown. */
  readonly write: (items: readonly T[]) => Promise<unknown>;
  /** Items with the same key replace one another until they are written. Default: none do. */
  readonly toKey?: (item: T) => unknown;
  /** How long items are collected, in ms. */
  readonly everyMs: number;
  readonly maxBatch: number;
  /** Items beyond these are dropped, and counted in the log. */
  readonly maxHeld: number;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Collects items and writes them in batches, off the path of requests: for what may be lost for as long as it is collected
 * when the process is killed. What cannot be written is kept for the next time.
 */
export function createBatchWriter<T>(options: BatchWriterOptions<T>) {
  const { what, write, toKey = (item) => item, maxBatch, maxHeld, log } = options;
  const held = new Map<unknown, T>();
  let dropped = 0;

  const onError = (error: unknown): void => {
    log.warn({ err: error, held: held.size }, `failed to write ${what}; retrying`);
  };

  /** What is added meanwhile waits for the next time. */
  async function writeHeld(): Promise<void> {
    if (dropped > 0) log.warn({ dropped }, `dropped ${what}: there were too many at once`);
    dropped = 0;
    const entries = [...held];
    for (let start = 0; start < entries.length; start += maxBatch) {
      const batch = entries.slice(start, start + maxBatch);
      await write(batch.map(([, item]) => item));
      for (const [key, item] of batch) if (held.get(key) === item) held.delete(key);
    }
  }

  // Two runs never overlap, so nothing is written by both.
  const task = createPeriodicTask({ intervalMs: options.everyMs, run: writeHeld, onError });
  const flush = (): Promise<void> => task.run().catch(onError);

  return {
    /** Does no I/O. */
    add(item: T): void {
      const key = toKey(item);
      if (held.size < maxHeld || held.has(key)) held.set(key, item);
      else dropped += 1;
    },

    /** Writes what was collected. Never throws. */
    flush,
    start: task.start,

    /** Ends the timer and writes what was collected. */
    async stop(): Promise<void> {
      await task.stop();
      await flush();
      // This is the last chance, so retry once in case the connection broke.
      if (held.size > 0) await flush();
    },
  };
}
