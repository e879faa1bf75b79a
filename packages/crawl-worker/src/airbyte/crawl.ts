import { join } from 'node:path';
import { createSender, type Sender } from '../documents/sender.js';
import type { Sink } from '../documents/sink.js';
import type { CrawlOrder } from '../protocol.js';
import type { CrawlRun } from '../run.js';
import { createCheckpoints } from './checkpoints.js';
import { compileMapping } from './mapping.js';
import type { StreamInfo } from './messages.js';
import { createPermissionMappings, planPermissions, readIdentities } from './permissions.js';
import { createReading, type Reading, type RecordMapping } from './reading.js';
import { isIncremental, planSlice, type SlicePlan } from './slice-plan.js';
import { createSourceClient, openSource, type SourceClient, type SourceDefinition } from './source.js';
import { createStateStore, type StateStore } from './state.js';
import { formatStates } from './stream-states.js';

/** How long a slice whose time is up, or that is cancelled, waits for the next state. */
const GRACE_MS = 10_000;
const TICK_MS = 250;

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

/** What the readings of a slice share. */
interface SliceContext {
  readonly runId: string;
  readonly run: CrawlRun;
  readonly store: StateStore;
  readonly sink: Sink;
  /** Hides the secrets of the configuration. */
  readonly mask: (text: string) => string;
  readonly graceMs: number;
}

/**
 * Reads the streams of a plan, until the source ends or the slice has to.
 *
 * @returns undefined when the slice ends before. @throws Error when the source or the sink fails.
 */
async function readStreams(
  { runId, run, store, sink, mask, graceMs }: SliceContext,
  definition: SourceDefinition,
  plan: SlicePlan,
  mappings: ReadonlyMap<string, RecordMapping>,
): Promise<{ readonly reading: Reading; readonly sender: Sender } | undefined> {
  const checkpoints = createCheckpoints(run, store);
  const over = new AbortController();
  const sender: Sender = createSender({
    sink,
    signal: over.signal,
    onStored: (lines, bytes) => run.progress(reading.count(lines, bytes) ?? Number.NaN),
  });
  const onStored = checkpoints.reach;
  const reading: Reading = createReading({ definition, mappings, plan, runId, run, sender, mask, onStored });
  // The run has read them in an earlier slice.
  if (plan.streams.length === 0) return { reading, sender };

  const state = formatStates(plan.states, plan.prefix);
  const source = await openSource(definition, 'read', {
    catalog: toCatalog(plan.streams),
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
      await checkpoints.saveIfDue();
    } catch (error) {
      failure ??= error as Error;
      await source.stop();
    } finally {
      isTicking = false;
    }
  }
  const timer = setInterval(() => void tick(), TICK_MS);
  try {
    for await (const line of source.lines()) {
      if (failure) break;
      const isState = await reading.add(line);
      if (isState && isStopping()) break;
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
  await checkpoints.save();
  if (failure) throw failure;
  if (isStopping()) {
    if (!checkpoints.isSet() && !run.isCancelled())
      throw new Error(
        'The source gave no state in the time of the slice, so it cannot be continued: raise the timeout of the schedule',
      );
    return undefined;
  }
  reading.assertNoError();
  if (code !== 0) {
    const tail = mask(source.stderrTail()).split('\n').at(-1);
    throw new Error(`The source ended with exit code ${code}${tail ? `: ${tail}` : ''}`);
  }
  reading.assertWhole();
  return { reading, sender };
}

/** Reads who may find what the run has read. @returns undefined when the slice ends before. @throws Error, PermanentError. */
async function readPermissions(context: SliceContext, definition: SourceDefinition, plan: SlicePlan) {
  const inMode = { ...definition, config: definition.permissions };
  const client = createSourceClient(inMode);
  const mask = await client.getMask();
  const discovered = await client.discover();
  const identities = await readIdentities(inMode, discovered, { ...context, mask });
  if (!identities) {
    // The next slice begins with them.
    if (plan.streams.length > 0 || context.run.isCancelled()) return undefined;
    throw new Error(
      'The people and groups of the source cannot be read in the time of a slice: raise the timeout of the schedule',
    );
  }
  const mappings = createPermissionMappings(inMode, identities);
  return readStreams({ ...context, mask }, inMode, planPermissions(plan, mappings, discovered), mappings);
}

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
    if (definition.about !== undefined) run.describe({ description: mask(definition.about) });
    const context = { runId: order.runId, run, store, sink, mask, graceMs };
    const plan = await planSlice(order, run, {
      store,
      discover: client.discover,
      mapped: [...mappings.keys()],
    });
    const content = await readStreams(context, definition, plan, mappings);
    if (!content) return 'continue';
    const last =
      definition.permissions === undefined
        ? content
        : await readPermissions(context, definition, content.reading.toPlan());
    if (!last) return 'continue';
    const { reading, sender } = last;
    await reading.endFullCrawl();
    await sender.flush();
    await createCheckpoints(run, store).write(reading.toNextRun());
    return undefined;
  };
}
