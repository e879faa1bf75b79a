import { type DocumentLine, findFault } from './contract.js';
import type { SerialisedLine, Sink } from './sink.js';

const MAX_LINES = 500;
const MAX_BYTES = 2 * 1_048_576;
/** How long a line waits for others. */
const MAX_WAIT_MS = 1_000;

export interface SenderOptions {
  readonly sink: Sink;
  readonly signal: AbortSignal;
  /** Called in order: `mark` of {@link createSender} once all lines before it are stored. */
  readonly onStored?: (lines: readonly DocumentLine[], bytes: number) => void;
}

/**
 * Gathers lines to batches and sends one at a time, in order, while the next one is gathered. `add` waits while one is
 * being sent and the next one is full, so a slow sink slows its source, and two batches are in memory at most.
 */
export function createSender({ sink, signal, onStored }: SenderOptions) {
  let lines: SerialisedLine[] = [];
  let bytes = 0;
  let marks: (() => void)[] = [];
  let startedAt = 0;
  let sending: Promise<void> = Promise.resolve();
  let failure: Error | undefined;

  async function store(
    batch: readonly SerialisedLine[],
    batchBytes: number,
    reached: readonly (() => void)[],
  ) {
    if (failure) return;
    try {
      if (batch.length > 0) await sink.write(batch, signal);
      onStored?.(
        batch.map(({ line }) => line),
        batchBytes,
      );
      for (const reach of reached) reach();
    } catch (error) {
      failure = error as Error;
    }
  }

  async function send(): Promise<void> {
    const [batch, batchBytes, reached] = [lines, bytes, marks];
    [lines, bytes, marks] = [[], 0, []];
    const previous = sending;
    sending = previous.then(() => store(batch, batchBytes, reached));
    await previous;
    if (failure) throw failure;
  }

  async function sendIfDue(): Promise<void> {
    const isDue =
      lines.length >= MAX_LINES || bytes >= MAX_BYTES || performance.now() - startedAt >= MAX_WAIT_MS;
    if (isDue && (lines.length > 0 || marks.length > 0)) await send();
    if (failure) throw failure;
  }

  return {
    /** @throws Error when the sink has refused an earlier batch, or RangeError when the line breaks the contract. */
    async add(line: DocumentLine): Promise<void> {
      const fault = findFault(line);
      if (fault !== undefined) throw new RangeError(fault);
      const json = JSON.stringify(line);
      if (lines.length === 0 && marks.length === 0) startedAt = performance.now();
      const size = Buffer.byteLength(json) + 1;
      lines.push({ line, json, bytes: size });
      bytes += size;
      await sendIfDue();
    },

    /** Calls `reach` once everything that was added before it is stored. */
    async mark(reach: () => void): Promise<void> {
      if (lines.length === 0 && marks.length === 0) startedAt = performance.now();
      marks.push(reach);
      await sendIfDue();
    },

    /** Sends what has waited for long enough, although nothing follows. */
    tick: sendIfDue,

    /** Resolves once everything is stored. */
    async flush(): Promise<void> {
      await send();
      await sending;
      if (failure) throw failure;
    },
  };
}

export type Sender = ReturnType<typeof createSender>;
