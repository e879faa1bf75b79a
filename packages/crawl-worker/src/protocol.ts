import { RequestError } from '@platform/service-kit/platform-response';

/** The order of a claimed run. */
export interface CrawlOrder {
  readonly runId: string;
  readonly attempt: number;
  readonly orgId: string;
  readonly connector: string;
  /** The instance of the connector, and its display name. */
  readonly instance: string;
  readonly displayName: string | null;
  readonly userId: string;
  readonly scheduleConfig: Readonly<Record<string, unknown>>;
  readonly priority: number;
  /** The `metadata` of the schedule. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly scheduledFor: string;
  /** `full`: crawl everything again, since what is not seen is deleted afterwards. */
  readonly mode: 'incremental' | 'full';
  /** The start of the full crawl that this run belongs to, or of the last one. */
  readonly fullStartedAt: string | null;
  /** The last checkpoint; null without one. */
  readonly checkpoint: unknown;
}

/**
 * Names a full crawl that a worker begins by itself, when what it has to remember is lost: an instant after the last full
 * crawl, by the platform's clock, and the same in every slice of the run.
 */
export function toOwnFullCrawl({ scheduledFor, fullStartedAt }: CrawlOrder): string {
  const last = Date.parse(fullStartedAt ?? '') || 0;
  return new Date(Math.max(Date.parse(scheduledFor), last + 1)).toISOString();
}

export interface Counters {
  readonly items: number;
  readonly deleted: number;
  readonly failed: number;
  readonly bytes: number;
}

export interface ClaimedRun {
  readonly order: CrawlOrder;
  /** The secret that proves the claim in all later requests, with the same token. */
  readonly lease: string;
  readonly leaseUntil: string;
  readonly deadline: string;
}

/** The `Date` header has whole seconds, and the response took a while to arrive. */
const CLOCK_MARGIN_MS = 1_500;

export interface Reply<T> {
  /** Undefined for 204. */
  readonly body: T | undefined;
  /** Converts an instant of the platform's clock to one of `performance.now()`, which the machine's clock does not move. */
  toLocal(instant: string): number;
}

/** Creates the function that sends requests of the protocol. */
export function createPost({ url, token }: { readonly url: string; readonly token: string }) {
  const base = `${url.replace(/\/+$/, '')}/api/v1/crawlingManager/work`;
  return async function post<T>(
    path: string,
    body: object,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<Reply<T>> {
    const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
    const response = await fetch(`${base}/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
    });
    const receivedAt = performance.now();
    const text = await response.text();
    if (!response.ok) throw new RequestError(response, text);
    const serverTime = Date.parse(response.headers.get('date') ?? '') || Date.now();
    return {
      body: text === '' ? undefined : (JSON.parse(text) as T),
      toLocal: (instant) => receivedAt + Date.parse(instant) - serverTime - CLOCK_MARGIN_MS,
    };
  };
}

export type Post = ReturnType<typeof createPost>;

/** Returns how long the platform asks to wait before the request is repeated. */
export const getRetryAfterMs = (error: unknown): number | undefined =>
  error instanceof RequestError ? error.retryAfterMs : undefined;
