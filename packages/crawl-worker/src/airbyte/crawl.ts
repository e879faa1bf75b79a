import { join } from 'node:path';
import { parse, stringify } from 'lossless-json';
import type { DocumentLine } from '../documents/contract.js';
import { isCompletion, isDeletion, isSighting } from '../documents/contract.js';
import { createSender } from '../documents/sender.js';
import type { Sink } from '../documents/sink.js';
import { type CrawlOrder, toOwnFullCrawl } from '../protocol.js';
import { type CrawlRun, PermanentError } from '../run.js';
import { compileMapping, MappingError } from './mapping.js';
import {
  isLegacy,
  type Message,
  parseMessage,
  readStateText,
  type RecordMessage,
  type StreamDescriptor,
  type StreamInfo,
  toStreamName,
} from './messages.js';
import { openSource, type SourceClient, type SourceDefinition, toSourceError } from './source.js';
import { TOO_LONG } from './source-process.js';
import { createStateStore, type StoredState } from './state.js';

/** The share of records that may fail. */
const MAX_FAILED_SHARE = 0.05;
/** So many records are read before a share of them means something. */
const MIN_RECORDS = 200;
/** How long a slice whose time is up, or that is cancelled, waits for the next state. */
const GRACE_MS = 10_000;
const TICK_MS = 250;
const CHECKPOINT_INTERVAL_MS = 1_000;
/** A large state costs a file each time. */
const FILE_CHECKPOINT_INTERVAL_MS = 10_000;
const MAX_FAULT_LINES = 20;
/** What is left of the run's log for warnings. */
const MAX_INFO_LINES = 300;

/** Where the next slice, or the next run, continues. */
interface Checkpoint {
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

/** The key of a state that is not of one stream. */
const WHOLE = '';

interface Progress {
  readonly states: ReadonlyMap<string, string>;
  readonly complete: ReadonlySet<string>;
  readonly records: number;
}

/**
 * Returns the states by stream, as text.
 *
 * @param text - a list of states as `--state` takes them, or the one of the oldest protocol.
 */
function parseStates(text: string): Map<string, string> {
  const states = parse(text);
  if (!Array.isArray(states)) return new Map([[WHOLE, text]]);
  return new Map(states.map((state) => [toStateKey(state as StateBody), stringify(state) ?? '']));
}

interface StateBody {
  readonly type?: string | null;
  readonly stream?: { readonly stream_descriptor: StreamDescriptor };
}
const toStateKey = (state: StateBody): string =>
  state.type === 'STREAM' && state.stream ? toStreamName(state.stream.stream_descriptor) : WHOLE;

const formatStates = (states: ReadonlyMap<string, string>): string | undefined => {
  if (states.size === 0) return undefined;
  const whole = states.get(WHOLE);
  if (whole !== undefined && isLegacy(parse(whole) as StateBody)) return whole;
  return `[${[...states.values()].join(',')}]`;
};

const isIncremental = ({ supported_sync_modes: modes }: StreamInfo): boolean =>
  modes?.includes('incremental') ?? false;

/** Configures the streams for a reading. */
const toCatalog = (streams: readonly StreamInfo[]) => ({
  streams: streams.map((stream) => ({
    stream,
    sync_mode: isIncremental(stream) ? 'incremental' : 'full_refresh',
    destination_sync_mode: stream.source_defined_primary_key?.length ? 'append_dedup' : 'append',
    cursor_field: stream.default_cursor_field ?? [],
    primary_key: stream.source_defined_primary_key ?? [],
  })),
});

/** Creates the crawl of a source for the kit. */
export function createAirbyteCrawl(
  definition: SourceDefinition,
  client: SourceClient,
  sink: Sink,
  graceMs = GRACE_MS,
) {
  const { connector, instance } = definition;
  const store = createStateStore(
    join(definition.folder, encodeURIComponent(connector), encodeURIComponent(instance)),
  );
  const mappings = new Map(
    Object.entries(definition.streams).map(([name, mapping]) => [name, compileMapping(name, mapping)]),
  );

  return async function crawl(order: CrawlOrder, run: CrawlRun): Promise<'continue' | undefined> {
    const mask = await client.getMask();
    const { runId } = order;
    const previous = (order.checkpoint ?? undefined) as Checkpoint | undefined;
    const isSameRun = previous?.runId === runId;
    await store.deleteOthers(previous?.state);

    const stateText = previous?.state && (await store.load(previous.state));
    const isStateLost = previous?.state !== undefined && stateText === undefined;
    if (isStateLost)
      run.log('The state of the source is in the folder of another worker: everything is crawled again.');
    const ownFullCrawl = isStateLost ? toOwnFullCrawl(order) : previous?.fullCrawl;
    const isFull = order.mode === 'full' || ownFullCrawl !== undefined;
    const fullCrawl = ownFullCrawl ?? order.fullStartedAt ?? undefined;
    let isPartial = !isStateLost && isFull && previous?.isPartial === true;

    const discovered = await client.discover();
    const found = discovered.filter(({ name }) => mappings.has(name));
    const missing = [...mappings.keys()].filter((name) => !found.some((stream) => stream.name === name));
    if (found.length === 0)
      throw new PermanentError(`The source has none of the streams ${missing.join(', ')}`);
    if (missing.length > 0) {
      isPartial = true;
      if (!isSameRun) run.log(`The source does not have the streams ${missing.join(', ')}.`);
    }

    const states = stateText === undefined ? new Map<string, string>() : parseStates(stateText);
    // What a stream without a cursor remembers is about one reading of it.
    if (!isSameRun)
      for (const stream of found) if (!isIncremental(stream)) states.delete(toStreamName(stream));
    const complete = new Set(isSameRun && !isStateLost ? previous.complete : []);
    const streams = found.filter((stream) => !complete.has(toStreamName(stream)));

    let records = isSameRun && !isStateLost ? previous.records : 0;
    const sliceStart = records;
    let failed = 0;
    let infoLines = 0;
    let faultLines = 0;
    let sourceError: Error | undefined;
    const incomplete = new Set<string>();
    const estimates = new Map<string, number>();
    /** Everything before it is stored. */
    let stored: Progress | undefined;
    let saved: Progress | undefined;
    let savedAt = 0;
    let isSaving = false;
    let interval = CHECKPOINT_INTERVAL_MS;

    async function saveCheckpoint(isLast = false): Promise<void> {
      if (!stored || stored === saved || isSaving) return;
      if (!isLast && performance.now() - savedAt < interval) return;
      isSaving = true;
      try {
        const progress = stored;
        const text = formatStates(progress.states);
        const state = text === undefined ? undefined : await store.save(text);
        run.checkpoint({
          runId,
          complete: [...progress.complete],
          records: progress.records,
          ...(state && { state }),
          ...(ownFullCrawl !== undefined && { fullCrawl: ownFullCrawl }),
          ...(isPartial && { isPartial }),
        } satisfies Checkpoint);
        interval = state && 'sha256' in state ? FILE_CHECKPOINT_INTERVAL_MS : CHECKPOINT_INTERVAL_MS;
        saved = progress;
        savedAt = performance.now();
      } finally {
        isSaving = false;
      }
    }

    const over = new AbortController();
    const sender = createSender({ sink, signal: over.signal, onStored: count });
    function count(lines: readonly DocumentLine[], bytes: number): void {
      const deleted = lines.filter(isDeletion).length;
      const others = lines.filter((line) => isSighting(line) || isCompletion(line)).length;
      run.count({ items: lines.length - deleted - others, deleted, bytes });
      const expected = [...estimates.values()].reduce((sum, rows) => sum + rows, 0);
      if (expected > 0) run.progress(Math.min(99, (100 * records) / expected));
    }
    const origin = { connector, instance, runId };

    async function fail(stream: string, reason: string, id: string | undefined): Promise<void> {
      failed += 1;
      run.count({ failed: 1 });
      faultLines += 1;
      if (faultLines <= MAX_FAULT_LINES) run.log(mask(`${stream}: ${id ?? 'a record'} failed: ${reason}`));
      if (!isFull) return;
      // It keeps its last text.
      if (id === undefined || fullCrawl === undefined) isPartial = true;
      else await sender.add({ ...origin, id, seen: true, fullCrawl });
    }

    async function takeRecord({ record }: RecordMessage, line: string): Promise<void> {
      const mapping = mappings.get(record.stream);
      if (!mapping) return;
      records += 1;
      try {
        const mapped = mapping.map(record.data, line);
        if (!mapped) return;
        if ('deleted' in mapped) return await sender.add({ ...origin, ...mapped });
        const { isCut, ...content } = mapped;
        if (isCut) run.log(`${record.stream}: the text of ${content.id} is too long, and was cut.`);
        const access = [...(definition.streams[record.stream]?.access ?? definition.access)];
        await sender.add({ ...origin, ...content, access, ...(fullCrawl !== undefined && { fullCrawl }) });
      } catch (error) {
        if (error instanceof MappingError) await fail(record.stream, error.message, error.id);
        else if (error instanceof RangeError) await fail(record.stream, error.message, undefined);
        else throw error;
      }
    }

    /** @returns whether it was a state. */
    async function take(message: Message, line: string): Promise<boolean> {
      switch (message.type) {
        case 'RECORD':
          await takeRecord(message, line);
          return false;
        case 'STATE': {
          states.set(toStateKey(message.state), readStateText(line));
          await markProgress();
          return true;
        }
        case 'LOG':
          takeLog(message.log.level, message.log.message);
          return false;
        case 'TRACE':
          await takeTrace(message.trace);
          return false;
        case 'SPEC':
        case 'CONNECTION_STATUS':
        case 'CATALOG':
        default:
          return false;
      }
    }

    async function markProgress(): Promise<void> {
      const progress = { states: new Map(states), complete: new Set(complete), records };
      await sender.mark(() => (stored = progress));
    }

    function takeLog(level: string, message: string): void {
      if (level === 'DEBUG' || level === 'TRACE') return;
      if (level === 'INFO') infoLines += 1;
      if (level === 'INFO' && infoLines > MAX_INFO_LINES) return;
      run.log(`${level}: ${mask(message).split('\n')[0] ?? ''}`);
    }

    async function takeTrace(trace: Extract<Message, { type: 'TRACE' }>['trace']): Promise<void> {
      const { error, estimate, stream_status: status } = trace;
      if (error && !sourceError) {
        const stream = error.stream_descriptor ? `${toStreamName(error.stream_descriptor)}: ` : '';
        sourceError = toSourceError(mask(stream + error.message), error);
      }
      if (estimate?.row_estimate)
        estimates.set(estimate.type === 'SYNC' ? WHOLE : toStreamName(estimate), estimate.row_estimate);
      if (!status) return;
      const name = toStreamName(status.stream_descriptor);
      run.log(`${name}: ${status.status}`);
      if (status.status === 'INCOMPLETE') incomplete.add(name);
      if (status.status === 'COMPLETE') {
        complete.add(name);
        await markProgress();
      }
    }

    const assertFewFailures = () => {
      const read = records - sliceStart;
      if (failed > read * MAX_FAILED_SHARE)
        throw new Error(
          `${failed} of ${read} records failed, which is more than ${MAX_FAILED_SHARE * 100} %`,
        );
    };

    const state = formatStates(states);
    const source = await openSource(definition, 'read', {
      catalog: toCatalog(streams),
      ...(state !== undefined && { state }),
    });
    let stopAt: number | undefined;
    let failure: Error | undefined;
    let isTicking = false;
    const isStopping = () => stopAt !== undefined;
    async function tick(): Promise<void> {
      if (run.isCancelled() || run.isTimeUp()) stopAt ??= performance.now() + graceMs;
      if (stopAt !== undefined && performance.now() > stopAt) void source.stop();
      if (isTicking) return;
      isTicking = true;
      try {
        await sender.tick();
        await saveCheckpoint();
      } catch (error) {
        failure ??= error as Error;
        await source.stop();
      } finally {
        isTicking = false;
      }
    }
    const timer = setInterval(() => void tick(), TICK_MS);
    let garbage = 0;
    try {
      for await (const line of source.lines()) {
        if (failure) break;
        const message = line === TOO_LONG ? undefined : parseMessage(line);
        if (message) {
          const isState = await take(message, line as string);
          if (isState && isStopping()) break;
        } else if (line === TOO_LONG || line.startsWith('{')) {
          await fail(
            'the source',
            line === TOO_LONG ? 'a line is too long' : 'a line is no message',
            undefined,
          );
        } else if (line !== '') {
          garbage += 1;
          if (garbage <= MAX_FAULT_LINES) run.log(mask(`The source has printed: ${line.slice(0, 200)}`));
        }
        if (records - sliceStart >= MIN_RECORDS) assertFewFailures();
      }
    } catch (error) {
      // The output of a source that was stopped ends in the middle.
      if (!isStopping() && !failure) failure = error as Error;
    } finally {
      if (isStopping() || failure) await source.stop();
    }
    const { code } = await source.exited;
    clearInterval(timer);
    const deadline = isStopping()
      ? setTimeout(() => over.abort(new Error('The slice is over')), graceMs)
      : undefined;
    try {
      await sender.flush();
    } catch (error) {
      failure ??= error as Error;
    }
    clearTimeout(deadline);
    await saveCheckpoint(true);
    if (failure) throw failure;
    if (isStopping()) {
      if (!saved && !run.isCancelled())
        throw new Error(
          'The source gave no state in the time of the slice, so it cannot be continued: raise the timeout of the schedule',
        );
      return 'continue';
    }
    if (sourceError) throw sourceError;
    if (code !== 0) {
      const tail = mask(source.stderrTail()).split('\n').at(-1);
      throw new Error(`The source ended with exit code ${code}${tail ? `: ${tail}` : ''}`);
    }
    if (incomplete.size > 0) throw new Error(`The source did not complete ${[...incomplete].join(', ')}`);
    assertFewFailures();

    if (isFull && fullCrawl !== undefined) {
      if (isPartial) run.log('Not everything could be seen, so nothing is dropped for not being seen.');
      else {
        await sender.add({ ...origin, complete: true, fullCrawl });
        await sender.flush();
      }
    }
    const text = formatStates(states);
    run.checkpoint({
      runId,
      complete: [],
      records,
      ...(text !== undefined && { state: await store.save(text) }),
    } satisfies Checkpoint);
    return undefined;
  };
}
