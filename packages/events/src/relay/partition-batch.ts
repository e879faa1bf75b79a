import type { PendingEvent } from './queries.js';

/** The outcome of sending a batch of events to one partition. */
export interface BatchResult {
  readonly partition: number;
  /** The first events of the batch, as far as all in-sync replicas acknowledged them. */
  readonly published: readonly PendingEvent[];
  /** Why the next event was not accepted. It may have been written nevertheless, unless Kafka refused it. */
  readonly fault: Error | undefined;
}

/** Sends events to a partition in order; either all of them are written or none. */
export type SendToPartition = (partition: number, events: readonly PendingEvent[]) => Promise<void>;

/** kafkajs sends to the partitions of a broker one after another, so this limits the time from one result to the next. */
const PROGRESS_TIMEOUT_MS = 10_000;

/** Errors caused by a record or by the size of the batch, in which case nothing was written. */
const REFUSALS = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'CORRUPT_MESSAGE',
]);

/** Publishes the events of a batch up to the first that Kafka does not accept; never rejects. */
export async function publishBatch(
  send: SendToPartition,
  partition: number,
  events: readonly PendingEvent[],
): Promise<BatchResult> {
  try {
    await send(partition, events);
    return { partition, published: events, fault: undefined };
  } catch (error) {
    if (!isRefusal(error)) return { partition, published: [], fault: toError(error) };
  }
  // One event is refused, or all together are too large. Sending them one by one publishes those before it.
  for (const [index, event] of events.entries()) {
    try {
      await send(partition, [event]);
    } catch (error) {
      return { partition, published: events.slice(0, index), fault: toError(error) };
    }
  }
  return { partition, published: events, fault: undefined };
}

/** Waits for the results of all batches. A batch whose broker hangs counts as a fault, even if it succeeds later. */
export async function settleWithProgress(
  sends: ReadonlyMap<number, Promise<BatchResult>>,
): Promise<readonly BatchResult[]> {
  const settled = new Map<number, BatchResult>();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, PROGRESS_TIMEOUT_MS);
    for (const [partition, send] of sends)
      void send.then((result) => {
        settled.set(partition, result);
        timer.refresh();
        if (settled.size < sends.size) return;
        clearTimeout(timer);
        resolve();
      });
  });
  const late = new Error(`no answer within ${PROGRESS_TIMEOUT_MS / 1_000} s`);
  return [...sends.keys()].map(
    (partition) => settled.get(partition) ?? { partition, published: [], fault: late },
  );
}

function isRefusal(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (REFUSALS.has((cause as Error & { type?: string }).type ?? '')) return true;
  return false;
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
