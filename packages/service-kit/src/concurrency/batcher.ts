/** A query, and the promise that all of its callers share. */
interface Entry<Q, R> {
  readonly query: Q;
  readonly result: Promise<R>;
  resolve(result: R): void;
  reject(reason: unknown): void;
}

function createEntry<Q, R>(query: Q): Entry<Q, R> {
  let resolve!: Entry<Q, R>['resolve'];
  let reject!: Entry<Q, R>['reject'];
  const result = new Promise<R>((onResult, onError) => {
    resolve = onResult;
    reject = onError;
  });
  return { query, result, resolve, reject };
}

export interface BatcherOptions<Q, R> {
  /** Queries with the same key are loaded once per batch. */
  toKey(query: Q): string;
  /** @returns one result per query, in the order of the queries. */
  load(queries: readonly Q[]): Promise<readonly R[]>;
  readonly maxBatch: number;
  /** The number of batches that may be in flight at once; further queries wait for the next one. */
  readonly maxInFlight: number;
  /**
   * How long, in ms, queries are collected while another batch is in flight. The collection also ends when that batch
   * settles. Under load, batches are therefore fewer and larger, and a batch that hangs delays nobody else. Default 0.
   */
  readonly maxWaitMs?: number;
}

/**
 * Loads the queries of one event-loop turn in one batch. A query is never answered by a batch that was sent before the
 * query arrived, because that result would be out of date.
 *
 * When a batch fails while no other batch may be sent, the queries that wait behind it fail with it: each of them would
 * otherwise wait for its own timeout on a dependency that is unavailable.
 */
export function createBatcher<Q, R>(options: BatcherOptions<Q, R>): (query: Q) => Promise<R> {
  const { maxWaitMs = 0 } = options;
  let pending = new Map<string, Entry<Q, R>>();
  let inFlight = 0;
  let isScheduled = false;
  let waitTimer: NodeJS.Timeout | undefined;

  function rejectAll(entries: Iterable<Entry<Q, R>>, reason: unknown): void {
    for (const entry of entries) entry.reject(reason);
  }

  async function send(batch: readonly Entry<Q, R>[]): Promise<void> {
    inFlight += 1;
    try {
      const results = await options.load(batch.map(({ query }) => query));
      for (const [index, entry] of batch.entries()) entry.resolve(results[index] as R);
    } catch (error) {
      rejectAll(batch, error);
      if (inFlight < options.maxInFlight) return;
      rejectAll(pending.values(), error);
      pending = new Map();
    } finally {
      inFlight -= 1;
      flush();
    }
  }

  function flush(): void {
    isScheduled = false;
    clearTimeout(waitTimer);
    while (pending.size > 0 && inFlight < options.maxInFlight) {
      const entries = [...pending];
      pending = new Map(entries.slice(options.maxBatch));
      void send(entries.slice(0, options.maxBatch).map(([, entry]) => entry));
    }
  }

  function schedule(): void {
    if (isScheduled || inFlight >= options.maxInFlight) return;
    isScheduled = true;
    if (inFlight === 0 || maxWaitMs === 0) setImmediate(flush);
    else waitTimer = setTimeout(flush, maxWaitMs);
  }

  return (query) => {
    const key = options.toKey(query);
    let entry = pending.get(key);
    if (!entry) {
      entry = createEntry(query);
      pending.set(key, entry);
    }
    schedule();
    return entry.result;
  };
}
