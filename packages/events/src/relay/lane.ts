import type { PendingEvent } from './queries.js';

/** What became of the events of one partition. */
export interface LaneResult {
  readonly partition: number;
  /** Acknowledged by all in-sync replicas. */
  readonly published: PendingEvent[];
  /** The first event of its key that Kafka refuses for what it is; what follows in that key was not sent. */
  readonly refused: { readonly event: PendingEvent; readonly reason: Error }[];
  /** Why the partition takes nothing at present; some of its events may be in Kafka nevertheless. */
  readonly fault: Error | undefined;
}

/** Sends events to a partition, all or none; in their order. */
export type SendToPartition = (partition: number, events: readonly PendingEvent[]) => Promise<void>;

/** kafkajs sends to one broker's partitions one after the other: as long as one of them settles, all is well. */
const PROGRESS_TIMEOUT_MS = 10_000;

/** Of the record, not of the moment: sending the same again gets the same answer. */
const REFUSALS = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'CORRUPT_MESSAGE',
]);

/** Publishes what can be published; never rejects. */
export async function publishLane(
  send: SendToPartition,
  partition: number,
  events: readonly PendingEvent[],
): Promise<LaneResult> {
  const result = { partition, published: [] as PendingEvent[], refused: [] as LaneResult['refused'] };
  try {
    await send(partition, events);
    return { ...result, published: [...events], fault: undefined };
  } catch (error) {
    if (!isRefusal(error)) return { ...result, fault: toError(error) };
  }
  // The broker refused the batch as a whole and wrote nothing: one by one shows whose fault it is.
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

/** The results of all lanes; those of a broker that hangs count as faults, whatever becomes of them later. */
export async function settleWithProgress(
  sends: ReadonlyMap<number, Promise<LaneResult>>,
): Promise<readonly LaneResult[]> {
  const settled = new Map<number, LaneResult>();
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
