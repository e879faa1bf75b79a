import { type CrawlOrder, toOwnFullCrawl } from '../protocol.js';
import { type CrawlRun, PermanentError } from '../run.js';
import { type StreamInfo, toStreamName } from './messages.js';
import type { StateStore, StoredState } from './state.js';
import { parseStates, type StatePrefix, type States, selectStates } from './stream-states.js';

/** Where the next slice, or the next run, continues. */
export interface Checkpoint {
  readonly runId: string;
  /** Streams that the run has read to their end. */
  readonly complete: readonly string[];
  readonly records: number;
  readonly state?: StoredState;
  /** Names the full crawl that this worker has begun by itself, without its state. */
  readonly fullCrawl?: string;
  /** Whether the full crawl has not seen everything, so that nothing may be dropped for not being seen. */
  readonly isPartial?: boolean;
}

/** What a slice reads, and from where. */
export interface SlicePlan {
  /** The streams that the run has yet to read to their end. */
  readonly streams: readonly StreamInfo[];
  readonly states: States;
  /** Names the states and streams that are read: those of the source's mode for permissions have one. */
  readonly prefix: StatePrefix;
  readonly complete: ReadonlySet<string>;
  /** The records that the run has read before. */
  readonly records: number;
  /** Whether the run reads everything. */
  readonly isFull: boolean;
  /** Names the full crawl, of this run or of an earlier one, that sees the documents. */
  readonly fullCrawl: string | undefined;
  readonly ownFullCrawl: string | undefined;
  readonly isPartial: boolean;
}

export const isIncremental = ({ supported_sync_modes: modes }: StreamInfo): boolean =>
  modes?.includes('incremental') ?? false;

/**
 * Decides what a slice reads: the streams with a mapping that the run has not completed, from the state of its checkpoint.
 * Without that state, which another worker may have, everything is crawled again.
 *
 * @throws PermanentError when the source has none of the streams; Error when it cannot be asked.
 */
export async function planSlice(
  order: CrawlOrder,
  run: Pick<CrawlRun, 'log'>,
  {
    store,
    discover,
    mapped,
  }: {
    readonly store: StateStore;
    readonly discover: () => Promise<readonly StreamInfo[]>;
    /** The names of the streams with a mapping. */
    readonly mapped: readonly string[];
  },
): Promise<SlicePlan> {
  const previous = (order.checkpoint ?? undefined) as Checkpoint | undefined;
  await store.deleteOthers(previous?.state);
  const stateText = previous?.state && (await store.load(previous.state));
  const isStateLost = previous?.state !== undefined && stateText === undefined;
  if (isStateLost)
    run.log('The state of the source is in the folder of another worker: everything is crawled again.');
  const isSameRun = previous?.runId === order.runId;
  const isContinued = isSameRun && !isStateLost;
  const ownFullCrawl = isStateLost ? toOwnFullCrawl(order) : previous?.fullCrawl;
  const isFull = order.mode === 'full' || ownFullCrawl !== undefined;

  const discovered = await discover();
  const found = discovered.filter(({ name }) => mapped.includes(name));
  const missing = mapped.filter((name) => !found.some((stream) => stream.name === name));
  if (found.length === 0)
    throw new PermanentError(`The source has none of the streams ${missing.join(', ')}`);
  if (missing.length > 0 && !isSameRun)
    run.log(`The source does not have the streams ${missing.join(', ')}.`);

  const stored = stateText === undefined ? new Map<string, string>() : parseStates(stateText);
  // Each run reads all permissions, since those of a file may change when the file doesn't.
  const states = isSameRun ? stored : selectStates(stored, '');
  // What a stream without a cursor remembers is about one reading of it.
  if (!isSameRun) for (const stream of found) if (!isIncremental(stream)) states.delete(toStreamName(stream));
  const complete = new Set(isContinued ? previous.complete : []);
  return {
    streams: found.filter((stream) => !complete.has(toStreamName(stream))),
    states,
    prefix: '',
    complete,
    records: isContinued ? previous.records : 0,
    isFull,
    fullCrawl: ownFullCrawl ?? order.fullStartedAt ?? undefined,
    ownFullCrawl,
    isPartial: missing.length > 0 || (!isStateLost && isFull && previous?.isPartial === true),
  };
}
