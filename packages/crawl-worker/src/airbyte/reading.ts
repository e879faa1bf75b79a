import {
  type AccessChange,
  type DocumentLine,
  isAccessChange,
  isCompletion,
  isDeletion,
  isSighting,
} from '../documents/contract.js';
import type { Sender } from '../documents/sender.js';
import type { CrawlRun } from '../run.js';
import { type Content, type MappedDeletion, MappingError } from './mapping.js';
import {
  type LogMessage,
  parseMessage,
  readStateText,
  type RecordMessage,
  toStreamName,
  type TraceMessage,
} from './messages.js';
import type { Progress } from './checkpoints.js';
import type { SlicePlan } from './slice-plan.js';
import { type SourceDefinition, toSourceError } from './source.js';
import { TOO_LONG } from './source-process.js';
import { selectStates, toStateKey, WHOLE } from './stream-states.js';

/** The share of records that may fail. */
const MAX_FAILED_SHARE = 0.05;
/** So many records are read before a share of them means something. */
const MIN_RECORDS = 200;
const MAX_FAULT_LINES = 20;
/** What is left of the run's log for warnings. */
const MAX_INFO_LINES = 300;

/** What becomes of the records of a stream. */
export interface RecordMapping {
  /** @param line - of the record, in which numbers are exact. @returns undefined for nothing. @throws MappingError. */
  map(
    data: Readonly<Record<string, unknown>>,
    line: string,
  ): Content | MappedDeletion | Pick<AccessChange, 'id' | 'access' | 'accessOnly'> | undefined;
}

/**
 * What a slice has read of its source: hands each record on as a document, and keeps the states, the counts and the faults.
 */
export function createReading({
  definition,
  mappings,
  plan,
  runId,
  run,
  sender,
  mask,
  onStored,
}: {
  readonly definition: SourceDefinition;
  readonly mappings: ReadonlyMap<string, RecordMapping>;
  readonly plan: SlicePlan;
  readonly runId: string;
  readonly run: Pick<CrawlRun, 'count' | 'log'>;
  readonly sender: Sender;
  /** Hides the secrets of the configuration. */
  readonly mask: (text: string) => string;
  /** Called once everything before the progress is stored. */
  readonly onStored: (progress: Progress) => void;
}) {
  const { fullCrawl, isFull, ownFullCrawl, prefix } = plan;
  const { connector, instance } = definition;
  const origin = { connector, instance, runId };
  const states = new Map(plan.states);
  const complete = new Set(plan.complete);
  const incomplete = new Set<string>();
  const estimates = new Map<string, number>();
  let { records, isPartial } = plan;
  let failed = 0;
  let infoLines = 0;
  let faultLines = 0;
  let garbageLines = 0;
  let sourceError: Error | undefined;

  /** @param id - of the document that the record would be; undefined if even that is unknown. */
  async function fail(stream: string, reason: string, id?: string): Promise<void> {
    failed += 1;
    run.count({ failed: 1 });
    faultLines += 1;
    if (faultLines <= MAX_FAULT_LINES) run.log(mask(`${stream}: ${id ?? 'a record'} failed: ${reason}`));
    if (!isFull) return;
    // It keeps its last text.
    if (id === undefined || fullCrawl === undefined) isPartial = true;
    else await sender.add({ ...origin, id, seen: true, fullCrawl });
  }

  async function addRecord({ record }: RecordMessage, line: string): Promise<void> {
    const mapping = mappings.get(record.stream);
    if (!mapping) return;
    records += 1;
    try {
      const mapped = mapping.map(record.data, line);
      if (!mapped) return;
      if ('deleted' in mapped || 'accessOnly' in mapped) return await sender.add({ ...origin, ...mapped });
      const { isCut, ...content } = mapped;
      if (isCut) run.log(`${record.stream}: the text of ${content.id} is too long, and was cut.`);
      const list = definition.streams[record.stream]?.access ?? definition.access;
      const access = list ? [...list] : 'separate';
      await sender.add({ ...origin, ...content, access, ...(fullCrawl !== undefined && { fullCrawl }) });
    } catch (error) {
      if (error instanceof MappingError) await fail(record.stream, error.message, error.id);
      else if (error instanceof RangeError) await fail(record.stream, error.message);
      else throw error;
    }
  }

  async function markProgress(): Promise<void> {
    const progress: Progress = {
      runId,
      records,
      states: new Map(states),
      complete: new Set(complete),
      ...(ownFullCrawl !== undefined && { fullCrawl: ownFullCrawl }),
      ...(isPartial && { isPartial }),
    };
    await sender.mark(() => onStored(progress));
  }

  function addLog({ level, message }: LogMessage['log']): void {
    if (level === 'DEBUG' || level === 'TRACE') return;
    if (level === 'INFO') infoLines += 1;
    if (level === 'INFO' && infoLines > MAX_INFO_LINES) return;
    run.log(`${level}: ${mask(message).split('\n')[0] ?? ''}`);
  }

  async function addTrace({ error, estimate, stream_status: status }: TraceMessage['trace']): Promise<void> {
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
      complete.add(prefix + name);
      await markProgress();
    }
  }

  /** A line that is no message may have been a record, if it looks like one; otherwise it is for people. */
  async function addGarbage(line: string | typeof TOO_LONG): Promise<void> {
    if (line === TOO_LONG) return fail('the source', 'a line is too long');
    if (line.startsWith('{')) return fail('the source', 'a line is no message');
    if (line === '') return;
    garbageLines += 1;
    if (garbageLines <= MAX_FAULT_LINES) run.log(mask(`The source has printed: ${line.slice(0, 200)}`));
  }

  /** @throws Error when too many of the slice's records have failed. */
  function assertFewFailures(): void {
    const read = records - plan.records;
    if (failed > read * MAX_FAILED_SHARE)
      throw new Error(`${failed} of ${read} records failed, which is more than ${MAX_FAILED_SHARE * 100} %`);
  }

  return {
    /**
     * Reads a line of the source, and waits while the sink is slow. @returns whether it was a state. @throws Error when the
     * sink refuses documents, or too many records have failed.
     */
    async add(line: string | typeof TOO_LONG): Promise<boolean> {
      const message = line === TOO_LONG ? undefined : parseMessage(line);
      if (!message) await addGarbage(line);
      else if (message.type === 'RECORD') await addRecord(message, line as string);
      else if (message.type === 'LOG') addLog(message.log);
      else if (message.type === 'TRACE') await addTrace(message.trace);
      else if (message.type === 'STATE') {
        states.set(prefix + toStateKey(message.state), readStateText(line as string));
        await markProgress();
      }
      if (records - plan.records >= MIN_RECORDS) assertFewFailures();
      return message?.type === 'STATE';
    },

    /** Counts lines that are stored. @returns percent of what the source has estimated; undefined when it has not. */
    count(lines: readonly DocumentLine[], bytes: number): number | undefined {
      const deleted = lines.filter(isDeletion).length;
      const others = lines.filter(
        (line) => isSighting(line) || isCompletion(line) || isAccessChange(line),
      ).length;
      run.count({ items: lines.length - deleted - others, deleted, bytes });
      const expected = [...estimates.values()].reduce((sum, rows) => sum + rows, 0);
      return expected > 0 ? Math.min(99, (100 * records) / expected) : undefined;
    },

    /** @throws Error with what the source itself has said went wrong. */
    assertNoError(): void {
      if (sourceError) throw sourceError;
    },

    /** @throws Error when the source has ended without everything, or too many records have failed. */
    assertWhole(): void {
      if (incomplete.size > 0) throw new Error(`The source did not complete ${[...incomplete].join(', ')}`);
      assertFewFailures();
    },

    /** Ends the full crawl, so that what it has not seen is gone; it does nothing after an incremental one. */
    async endFullCrawl(): Promise<void> {
      if (!isFull || fullCrawl === undefined) return;
      if (isPartial) run.log('Not everything could be seen, so nothing is dropped for not being seen.');
      else await sender.add({ ...origin, complete: true, fullCrawl });
    },

    /** Returns what has been read, from which the reading of the permissions goes on. */
    toPlan: (): SlicePlan => ({ ...plan, states, complete, records, isPartial }),

    /** Returns where the next run starts. */
    toNextRun: (): Progress => ({ runId, complete: new Set(), records, states: selectStates(states, '') }),
  };
}

export type Reading = ReturnType<typeof createReading>;
