import { parseJson, toPauseMs } from '@platform/service-kit/platform-response';
import type { CallInput, CallResult, Operations } from './call-types.js';
import {
  type FailedCall,
  PlatformError,
  type RawResponse,
  toConnectionError,
  toResponseError,
} from './platform-error.js';
import { requestTarget } from './request-target.js';
import { type ClientRoute, parseRoute } from './routes.js';

/* The client for programs outside of the platform, over `fetch`. It uses nothing that browsers do not have. */

export interface PlatformClientOptions {
  /** The URL of the platform. */
  readonly baseUrl: string;
  /**
   * The token that calls are made with, or a function that returns it for each of them, such as one that refreshes it. Calls
   * that need none, such as `login`, work without.
   */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>);
  /** The time limit of each attempt, by default 30 seconds. */
  readonly timeoutMs?: number;
  /**
   * How often a call is repeated after 429, 503 and a lost connection, by default twice: one that only reads, or one with an
   * `Idempotency-Key`. It waits for as long as `Retry-After` says; for more than a minute, it is not repeated.
   */
  readonly maxRetries?: number;
  /** Names the program, such as `acme-reports/1.2`. Administrators see it beside its token. */
  readonly userAgent?: string;
  /** Headers of each request, such as those that a proxy wants. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends the requests, such as one with a proxy. By default the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface CallOptions {
  /** Aborts the call. */
  readonly signal?: AbortSignal;
  /** The token of this call, in place of the client's. */
  readonly token?: string;
  /** Sent as `x-request-id`, with which the logs of the services name the call. */
  readonly requestId?: string;
  /** The time limit of each attempt of this call, in place of the client's. */
  readonly timeoutMs?: number;
}

/** What may be left out when the operation needs no input. */
type InputArguments<Input> = object extends Input
  ? [input?: Input, options?: CallOptions]
  : [input: Input, options?: CallOptions];

/** The items of a list, whatever the form of its response calls them: `data`, or its only array, such as `tokens`. */
type ItemOf<Result> = Result extends { readonly data: infer Data }
  ? Data extends readonly (infer Item)[]
    ? Item
    : never
  : { [Key in keyof Result]-?: Result[Key] extends readonly (infer Item)[] ? Item : never }[keyof Result];
/** The operations that list something. */
type ListId<T extends Operations<T>> = {
  [Id in keyof T & `list${string}`]: [ItemOf<CallResult<T[Id]>>] extends [never] ? never : Id;
}[keyof T & `list${string}`];

/** Typed calls of one service, by operation id. */
export interface ServiceCalls<T extends Operations<T>> {
  /**
   * @throws PlatformError when the response is not a success.
   * @throws TypeError for input that can't be sent, before anything is.
   */
  call<Id extends keyof T & string>(
    id: Id,
    ...args: InputArguments<CallInput<T[Id]>>
  ): Promise<CallResult<T[Id]>>;
  /** Walks through a list, page by page, as it is read. @throws PlatformError. */
  list<Id extends ListId<T>>(
    id: Id,
    ...args: InputArguments<CallInput<T[Id]>>
  ): AsyncGenerator<ItemOf<CallResult<T[Id]>>, void, undefined>;
}

interface AnyInput {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

/** A page of any list of the platform. */
interface AnyPage {
  readonly nextCursor?: string | null;
  /** Of a feed, which has a cursor at its end, too. */
  readonly hasMore?: boolean;
  /** Of the registry's lists. */
  readonly metadata?: { readonly nextCursor?: string | null };
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** The longest that a timer can run. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const DEFAULT_RETRIES = 2;
const MAX_WAIT_MS = 60_000;
const PAGE_SIZE = 100;
const USER_AGENT = '@platform/clients';
const KEY_HEADER = 'idempotency-key';
const REPEATED = new Set(['busy', 'unreachable', 'disconnected']);
/** The first request with this key, whose connection broke, is still under way. */
const KEY_IN_USE = 'IDEMPOTENCY_KEY_IN_USE';

function assertNumber(name: string, value: number, [least, most]: readonly [number, number]): void {
  if (!(value >= least && value <= most))
    throw new TypeError(`${name} must be from ${least} to ${most}, not ${value}`);
}
const assertTimeout = (value: number) => assertNumber('timeoutMs', value, [1, MAX_TIMEOUT_MS]);

function parseBaseUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:/i.test(text))
    throw new TypeError(`baseUrl must be an http or https URL, not ${text}`);
  return text.replace(/\/+$/, '');
}

/** Waits. @returns false when the signal is aborted meanwhile. */
async function wait(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  if (signal?.aborted) return false;
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve(!signal?.aborted);
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}

/** @throws TypeError for a value that no header can have; its message does not have the token. */
function toHeaders(
  route: ClientRoute,
  input: AnyInput,
  given: Readonly<Record<string, string | undefined>>,
  token: string | undefined,
): Headers {
  if (token !== undefined && !/^[!-~]+$/.test(token))
    throw new TypeError('The token must be a text of ASCII without spaces');
  const headers = new Headers();
  const all = {
    ...given,
    ...input.headers,
    accept: ['application/json', ...route.otherTypes].join(', '),
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    'content-type': input.body === undefined ? undefined : 'application/json',
  };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) headers.set(name, value);
  if (route.isKeyed && !headers.has(KEY_HEADER)) headers.set(KEY_HEADER, createKey());
  return headers;
}

/** Creates a key that no other call has. `randomUUID` is missing in pages that came over plain HTTP. */
const createKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

const EMPTY = Symbol('no body that the operation has');

/** Reads the body of a success. */
function readSuccess(route: ClientRoute, { headers, text }: RawResponse): unknown {
  if (text === '') return undefined;
  const type = (headers.get('content-type') ?? 'application/json').replace(/;.*/s, '').trim().toLowerCase();
  if (/^application\/(?:[\w.-]+\+)?json$/.test(type))
    return parseJson(text) ?? (text.trim() === 'null' ? null : EMPTY);
  return route.otherTypes.includes(type) ? text : EMPTY;
}

/** Finds the items of a page: `data`, or the only array that it has. */
function findItems(page: object): readonly unknown[] {
  const { data } = page as { readonly data?: unknown };
  const found: unknown = data ?? Object.values(page).find(Array.isArray);
  return Array.isArray(found) ? (found as readonly unknown[]) : [];
}

/** Creates the calls of one service. */
export function createServiceCalls<T extends Operations<T>>(
  service: string,
  routes: Readonly<Record<string, string>>,
  options: PlatformClientOptions,
): ServiceCalls<T> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxRetries = DEFAULT_RETRIES, userAgent } = options;
  assertTimeout(timeoutMs);
  assertNumber('maxRetries', maxRetries, [0, 100]);
  const base = parseBaseUrl(options.baseUrl);
  const agent = userAgent === undefined ? USER_AGENT : `${userAgent} ${USER_AGENT}`;
  // Throws here rather than in a call.
  const ownHeaders = Object.fromEntries(new Headers({ 'user-agent': agent, ...options.headers }));

  function getRoute(id: string): ClientRoute {
    const text = Object.hasOwn(routes, id) ? routes[id] : undefined;
    if (text === undefined) throw new TypeError(`The ${service} service has no operation ${id}`);
    return parseRoute(text);
  }

  async function toRequest(route: ClientRoute, input: AnyInput, given: CallOptions) {
    if (given.timeoutMs !== undefined) assertTimeout(given.timeoutMs);
    const url = base + requestTarget(route, input.path, input.query);
    const body = input.body === undefined ? undefined : JSON.stringify(input.body);
    const token =
      given.token ?? (typeof options.token === 'function' ? await options.token() : options.token);
    const { requestId } = given;
    const headers = toHeaders(route, input, { ...ownHeaders, 'x-request-id': requestId }, token);
    // A token is for the platform's own address alone.
    const init = {
      method: route.method,
      headers,
      redirect: 'manual' as const,
      ...(body !== undefined && { body }),
    };
    return { url, init, isRepeatable: route.method === 'GET' || headers.has(KEY_HEADER) };
  }

  async function send(
    failed: FailedCall,
    url: string,
    init: RequestInit,
    given: CallOptions,
  ): Promise<RawResponse> {
    const { signal } = given;
    const timeout = AbortSignal.timeout(given.timeoutMs ?? timeoutMs);
    try {
      const response = await (options.fetch ?? fetch)(url, {
        ...init,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      throw toConnectionError(failed, error, signal);
    }
  }

  async function attempt(
    route: ClientRoute,
    failed: FailedCall,
    url: string,
    init: RequestInit,
    given: CallOptions,
  ) {
    const response = await send(failed, url, init, given);
    const { status } = response;
    const body = status >= 200 && status < 300 ? readSuccess(route, response) : EMPTY;
    if (body === EMPTY) throw toResponseError(failed, response);
    return body;
  }

  async function call(id: string, input: AnyInput = {}, given: CallOptions = {}): Promise<unknown> {
    const route = getRoute(id);
    const failed = { service, operation: id, isRead: route.method === 'GET' };
    const { url, init, isRepeatable } = await toRequest(route, input, given);
    for (let failures = 1; ; failures += 1) {
      try {
        return await attempt(route, failed, url, init, given);
      } catch (error) {
        if (!(error instanceof PlatformError) || !isRepeatable || failures > maxRetries) throw error;
        const isAskedTooMuch = (error.retryAfterMs ?? 0) > MAX_WAIT_MS;
        const isRepeated = REPEATED.has(error.kind) || error.code === KEY_IN_USE;
        if (!isRepeated || isAskedTooMuch) throw error;
        if (!(await wait(toPauseMs(failures, error.retryAfterMs), given.signal)))
          throw toConnectionError(failed, given.signal?.reason, given.signal);
      }
    }
  }

  async function* list(id: string, input: AnyInput = {}, given: CallOptions = {}): AsyncGenerator {
    const limit = getRoute(id).isPaged ? { limit: PAGE_SIZE } : {};
    let next: Record<string, string> = {};
    for (;;) {
      const page = (await call(
        id,
        { ...input, query: { ...limit, ...input.query, ...next } },
        given,
      )) as AnyPage;
      yield* findItems(page);
      const cursor = page.nextCursor ?? page.metadata?.nextCursor;
      if (typeof cursor !== 'string' || page.hasMore === false) return;
      next = page.hasMore === undefined ? { cursor } : { after: cursor };
    }
  }

  return { call, list } as unknown as ServiceCalls<T>;
}
