import type { PendingEvent } from './queries.js';

/** The outcome of sending a batch of events to one partition. */
export interface BatchResult {
  readonly partition: number;
  /** The events that all in-sync replicas acknowledged. */
  readonly published: PendingEvent[];
  /** Events that Kafka refuses because of their content. Later events of the same key were not sent. */
  readonly refused: { readonly event: PendingEvent; readonly reason: Error }[];
  /** Why the partition accepts nothing at present. Some of its events may have been written nevertheless. */
  readonly fault: Error | undefined;
}

/** Sends events to a partition in order; either all of them are written or none. */
export type SendToPartition = (partition: number, events: readonly PendingEvent[]) => Promise<void>;

/** kafkajs sends to the partitions of a broker one after another, so this limits the time from one result to the next. */
const PROGRESS_TIMEOUT_MS = 10_000;

/** Errors caused by the record itself: sending it again fails in the same way. */
const REFUSALS = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'CORRUPT_MESSAGE',
]);

/** Publishes the events of a batch that Kafka accepts; never rejects. */
export async function publishBatch(
  send: SendToPartition,
  partition: number,
  events: readonly PendingEvent[],
): Promise<BatchResult> {
  const result = { partition, published: [] as PendingEvent[], refused: [] as BatchResult['refused'] };
  try {
    await send(partition, events);
    return { ...result, published: [...events], fault: undefined };
  } catch (error) {
    if (!isRefusal(error)) return { ...result, fault: toError(error) };
  }
  // The broker refused the whole batch and wrote nothing. Sending the events one by one shows which of them it refuses.
  const refusedKeys = new Set<string>();
  for (const event of events) {
    if (refusedKeys.has(event.event_key)) continue;
    try {
      await send(partition, [event]);
      result.published.push(event);
    } catch (error) {
      if (!isRefusal(error)) return { ...result, fault: toError(error) };
      refusedKeys.add(event.event_key);
      result.refused.push({ event, reason: toError(error) });
    }
  }
  return { ...result, fault: undefined };
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
    (partition) => settled.get(partition) ?? { partition, published: [], refused: [], fault: late },
  );
}

function isRefusal(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (REFUSALS.has((cause as Error & { type?: string }).type ?? '')) return true;
  return false;
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
