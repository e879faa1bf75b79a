import { setTimeout as delay } from 'node:timers/promises';
import { isTransient, RequestError, toPauseMs } from '@platform/service-kit/platform-response';
import {
  type ClaimedRun,
  type Counters,
  type CrawlOrder,
  getRetryAfterMs,
  type Post,
  type Reply,
} from './protocol.js';

/** The run as the connector sees it: it reports here, and learns when to stop. Reports are sent within a second. */
export interface CrawlRun {
  /** Aborted when the crawl has to stop: the run was cancelled, the lease is lost, or the worker shuts down. */
  readonly signal: AbortSignal;
  /** Returns whether the crawl has to stop. It may then return or throw; the kit reports the right outcome. */
  isCancelled(): boolean;
  /** Returns whether most of the slice's time is used up, so that the crawl should return `continue`. */
  isTimeUp(): boolean;
  /** @param percent - of the whole run, from 0 to 100. NaN, as of nothing, changes nothing. */
  progress(percent: number): void;
  /**
   * Adds to the counters of the slice.
   *
   * @throws RangeError for a number that is not whole, or below 0.
   */
  count(more: Partial<Counters>): void;
  /**
   * Sets where the next slice, or another worker after a crash of this one, continues. Everything before it must be stored
   * already.
   *
   * @param value - any JSON value but null, of at most 64 KiB.
   * @throws RangeError for a larger one, one with NaN or Infinity, which JSON would make null, or one with a text that
   *   the platform does not store: NUL and halves of characters.
   */
  checkpoint(value: unknown): void;
  /**
   * Adds a line to the page of the run, which administrators see: it must not contain secrets. NUL and halves of
   * characters, which the platform does not store, are replaced.
   */
  log(line: string): void;
  /**
   * Says what is crawled, which the members who search it see: it must not contain secrets. It is kept from run to run.
   *
   * @throws RangeError for a number of documents that is not whole, or below 0.
   */
  describe(source: SourceDescription): void;
}

export interface SourceDescription {
  /** The folder, site, repository or account, in at most 300 characters. */
  readonly description: string;
  /** How many documents it has. */
  readonly documents?: number;
  /** When the oldest and the newest of them were changed, in ISO 8601. */
  readonly oldestAt?: string;
  readonly newestAt?: string;
}

/**
 * Crawls one slice, until the source is exhausted or `isTimeUp`.
 *
 * @returns `continue` if more is left after the last checkpoint; undefined when everything is crawled.
 * @throws Error when the attempt has failed. Its message is shown, and the run is retried from the last checkpoint, unless it
 *   is a {@link PermanentError}.
 */
export type Crawl = (order: CrawlOrder, run: CrawlRun) => Promise<'continue' | undefined | void>;

/** The crawl has failed, and would fail again the same way, as with a wrong password: the run ends without another attempt. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError';
}

const MAX_CHECKPOINT_BYTES = 65_536;
const MAX_LINES = 1_000;
const MAX_LINES_PER_REPORT = 100;
const MAX_LINE_CHARACTERS = 1_024;
const MAX_DESCRIPTION_CHARACTERS = 300;
/** Control characters, those that change the direction of text, and halves of characters. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;
const MAX_REASON_CHARACTERS = 2_000;
const REPORT_INTERVAL_MS = 1_000;
const MAX_REQUEST_MS = 10_000;
/** How long the end of a slice is retried, even when the lease has expired in the meantime. */
const FINISH_RETRY_MS = 60_000;
/** The fraction of the slice's time after which the crawl should return. */
const SLICE_FRACTION = 0.8;

const UNSTORABLE = 'A checkpoint must not have a text with NUL or half of a character';
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

function refuseUnstorable(key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new RangeError(`A checkpoint must not have the number ${value}`);
  if (!isStorable(key) || (typeof value === 'string' && !isStorable(value))) throw new RangeError(UNSTORABLE);
  return value;
}

/** The platform refuses a report with anything else, and so would the end of the run be refused. */
function assertCounts(counts: object): void {
  for (const [name, value] of Object.entries(counts))
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0))
      throw new RangeError(`${name} must be a whole number of 0 or more, not ${value}`);
}

/** Texts may come from documents of others, so a crawl must not fail for what the platform does not store of them. */
const toStorable = (text: string, maxCharacters: number): string =>
  text.slice(0, maxCharacters).toWellFormed().replaceAll('\0', '\ufffd');

/** Why the outcome of the crawl must not be reported. */
class LeaseLost extends Error {}

interface Context {
  readonly post: Post;
  readonly crawl: Crawl;
  /** Aborted when the worker stops. */
  readonly stopping: AbortSignal;
  readonly onError: (message: string) => void;
}

/** Crawls a claimed run: renews its lease while the connector works, and finishes the slice. */
export async function performRun(
  { post, crawl, stopping, onError }: Context,
  claimed: ClaimedRun & Pick<Reply<ClaimedRun>, 'toLocal'>,
): Promise<void> {
  const { order, lease, toLocal } = claimed;
  const path = (action: string) => `${order.runId}/${action}`;
  const startedAt = performance.now();
  const timeUpAt = startedAt + (toLocal(claimed.deadline) - startedAt) * SLICE_FRACTION;
  let leaseEnd = toLocal(claimed.leaseUntil);
  const leaseMs = leaseEnd - startedAt;
  /** Aborted when the claim is over, with the reason. */
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, stopping]);

  let counters: Counters = { items: 0, deleted: 0, failed: 0, bytes: 0 };
  let progress = 0;
  let checkpoint: unknown;
  let lines: string[] = [];
  let lineCount = 0;
  let source: SourceDescription | undefined;
  let isChanged = false;
  /** When the next report may be sent. */
  let reportAt = 0;

  const run: CrawlRun = {
    signal,
    isCancelled: () => signal.aborted,
    isTimeUp: () => performance.now() >= timeUpAt,
    progress(percent) {
      if (Number.isNaN(percent)) return;
      progress = Math.min(100, Math.max(0, percent));
      isChanged = true;
    },
    count({ items = 0, deleted = 0, failed = 0, bytes = 0 }) {
      assertCounts({ items, deleted, failed, bytes });
      counters = {
        items: counters.items + items,
        deleted: counters.deleted + deleted,
        failed: counters.failed + failed,
        bytes: counters.bytes + bytes,
      };
      isChanged = true;
    },
    checkpoint(value) {
      const json = JSON.stringify(value, refuseUnstorable);
      if (Buffer.byteLength(json) > MAX_CHECKPOINT_BYTES)
        throw new RangeError(`A checkpoint must not be larger than ${MAX_CHECKPOINT_BYTES} bytes of JSON`);
      // Copied, since the connector may change its object later.
      checkpoint = JSON.parse(json);
      isChanged = true;
    },
    log(line) {
      lineCount += 1;
      if (lineCount > MAX_LINES) return;
      lines.push(toStorable(line, MAX_LINE_CHARACTERS));
      isChanged = true;
    },
    describe({ description, ...more }) {
      assertCounts({ documents: more.documents });
      const text = description.slice(0, MAX_DESCRIPTION_CHARACTERS).replaceAll(INVISIBLE, ' ').trim();
      // The platform refuses what cannot be read, and a crawl must not fail for that.
      if (text === '') return;
      source = { description: text, ...more };
      isChanged = true;
    },
  };

  const readUnsent = () => ({
    counters,
    ...(checkpoint !== undefined && { checkpoint }),
    ...(source !== undefined && { source }),
  });

  async function report(): Promise<void> {
    const sent = { ...readUnsent(), progress, log: lines.slice(0, MAX_LINES_PER_REPORT) };
    isChanged = false;
    try {
      const timeoutMs = Math.min(MAX_REQUEST_MS, leaseMs / 2);
      const { body, toLocal: toLocalNow } = await post<{ leaseUntil: string; cancelled: boolean }>(
        path('heartbeat'),
        { lease, ...sent },
        { timeoutMs },
      );
      if (!body || body.cancelled) throw new LeaseLost('The run was cancelled');
      leaseEnd = toLocalNow(body.leaseUntil);
      // Only what was acknowledged is dropped, so a lost response loses nothing.
      if (checkpoint === sent.checkpoint) checkpoint = undefined;
      if (source === sent.source) source = undefined;
      lines = lines.slice(sent.log.length);
      if (lines.length > 0) isChanged = true;
    } catch (error) {
      isChanged = true;
      if (!isTransient(error) || error instanceof LeaseLost) ended.abort(error);
      else if (performance.now() > leaseEnd)
        ended.abort(new LeaseLost('The platform was unreachable until the lease expired'));
      else onError(`Failed to report the run ${order.runId}; will retry: ${(error as Error).message}`);
      // The lease is not lost for a pause that a busy platform asks for.
      reportAt = performance.now() + Math.min(leaseMs / 4, getRetryAfterMs(error) ?? 0);
    }
  }

  async function keepReporting(until: AbortSignal): Promise<void> {
    const pause = Math.min(REPORT_INTERVAL_MS, leaseMs / 4);
    let dueAt = performance.now() + leaseMs / 3;
    for (;;) {
      await delay(pause, undefined, { signal: until }).catch(() => undefined);
      if (until.aborted || ended.signal.aborted) return;
      const now = performance.now();
      if (now < reportAt || (!isChanged && now < dueAt)) continue;
      await report();
      dueAt = performance.now() + leaseMs / 3;
    }
  }

  /** @returns the outcome of the slice; undefined if there is nothing to report. */
  function toState(outcome: { readonly value: unknown } | { readonly error: Error }) {
    const reason: unknown = ended.signal.reason;
    if (isLost(reason)) return undefined;
    if (reason instanceof Error) return { state: 'failed', reason: reason.message };
    // The crawl may have returned early because it had to stop, so it does not count as complete.
    if (stopping.aborted) return { state: 'released' };
    if ('error' in outcome) {
      const { error } = outcome;
      const isPermanent = error instanceof PermanentError;
      return { state: 'failed', reason: error.message || error.name, ...(isPermanent && { retry: false }) };
    }
    return { state: outcome.value === 'continue' ? 'continue' : 'completed' };
  }

  async function finish({
    reason,
    ...outcome
  }: {
    readonly state: string;
    readonly reason?: string;
    readonly retry?: boolean;
  }): Promise<void> {
    // A refused report is left out: with it, the report of the failure would be refused, too.
    const unsent = ended.signal.aborted
      ? { counters }
      : { ...readUnsent(), progress, log: lines.slice(0, MAX_LINES_PER_REPORT) };
    const given = reason === undefined ? {} : { reason: toStorable(reason, MAX_REASON_CHARACTERS) };
    try {
      await postFinish({ ...unsent, ...outcome, ...given });
    } catch (error) {
      const { message } = error as Error;
      onError(`Failed to finish the run ${order.runId}: ${message}`);
      if (isLost(error) || isTransient(error)) return;
      // Without an end, the run would be crawled again and again, and refused each time.
      const failed = {
        state: 'failed',
        reason: toStorable(`The end of the crawl was refused. ${message}`, MAX_REASON_CHARACTERS),
      };
      await postFinish(failed).catch((again: Error) =>
        onError(`Failed to fail the run ${order.runId}: ${again.message}`),
      );
    }
  }

  /** @throws RequestError when it is refused, or the platform stays unreachable. */
  async function postFinish(body: object): Promise<void> {
    const until = performance.now() + FINISH_RETRY_MS;
    for (let failures = 1; ; failures += 1) {
      try {
        await post(path('finish'), { lease, ...body }, { timeoutMs: MAX_REQUEST_MS });
        return;
      } catch (error) {
        if (!isTransient(error) || performance.now() > until) throw error;
        await delay(toPauseMs(failures, getRetryAfterMs(error)));
      }
    }
  }

  const crawled = new AbortController();
  const reporting = keepReporting(crawled.signal);
  const outcome = await Promise.resolve()
    .then(() => crawl(order, run))
    .then(
      (value) => ({ value }),
      (error: unknown) => ({ error: error instanceof Error ? error : new Error(String(error)) }),
    );
  crawled.abort();
  await reporting;
  while (lines.length > MAX_LINES_PER_REPORT && !ended.signal.aborted) {
    const before = lines.length;
    await report();
    if (lines.length === before) break;
  }
  const state = toState(outcome);
  if (state) await finish(state);
  else onError(`Stopped the run ${order.runId}: ${(ended.signal.reason as Error).message}`);
}

/** Whether the lease is lost: another worker has the run, or it has ended or was removed. */
const isLost = (error: unknown): boolean =>
  error instanceof LeaseLost ||
  (error instanceof RequestError && (error.status === 409 || error.status === 404));
