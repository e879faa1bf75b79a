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

/** kafkajs sends to the partitions of a broker one after another, so this limits the time from one answer to the next. */
const PROGRESS_TIMEOUT_MS = 10_000;

/** Errors caused by a record or by the size of the batch, in which case nothing was written. */
const REFUSALS = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'CORRUPT_MESSAGE',
]);

/** The batches of a window, while they are sent. */
export interface Sending {
  /** The sends, which may go on after the results are there. */
  readonly sends: readonly Promise<BatchResult>[];
  /** Resolves once each batch has a result. A batch whose broker hangs counts as a fault, even if it succeeds later. */
  readonly results: Promise<readonly BatchResult[]>;
}

/** Publishes each batch up to the first event that Kafka does not accept. */
export function sendBatches(
  send: SendToPartition,
  batches: ReadonlyMap<number, readonly PendingEvent[]>,
): Sending {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const hanging = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PROGRESS_TIMEOUT_MS);
  });
  const noteAnswer = () => {
    if (!isOver) timer?.refresh();
  };
  const sends = [...batches].map(([partition, events]) => ({
    partition,
    sent: publishBatch(send, noteAnswer, partition, events),
  }));
  const fault = new Error(`no answer within ${PROGRESS_TIMEOUT_MS / 1_000} s`);
  const results = Promise.all(
    sends.map(({ partition, sent }) =>
      Promise.race([sent, hanging.then((): BatchResult => ({ partition, published: [], fault }))]),
    ),
  ).finally(() => {
    isOver = true;
    clearTimeout(timer);
  });
  return { sends: sends.map(({ sent }) => sent), results };
}

/** Never rejects. @param onAnswer - called when a send has ended, whether it was accepted or not. */
async function publishBatch(
  send: SendToPartition,
  onAnswer: () => void,
  partition: number,
  events: readonly PendingEvent[],
): Promise<BatchResult> {
  /** @returns why the events were not accepted. */
  const offer = async (offered: readonly PendingEvent[]): Promise<Error | undefined> => {
    try {
      await send(partition, offered);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      onAnswer();
    }
  };
  const fault = await offer(events);
  if (!fault) return { partition, published: events, fault };
  if (events.length === 1 || !isRefusal(fault)) return { partition, published: [], fault };
  // One event is refused, or all together are too large. Sending them one by one publishes those before it.
  for (const [index, event] of events.entries()) {
    const eventFault = await offer([event]);
    if (eventFault) return { partition, published: events.slice(0, index), fault: eventFault };
  }
  return { partition, published: events, fault: undefined };
}

function isRefusal(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (REFUSALS.has((cause as Error & { type?: string }).type ?? '')) return true;
  return false;
}
