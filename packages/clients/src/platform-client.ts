import { setTimeout as delay } from 'node:timers/promises';
import { readRetryAfter } from '@platform/service-kit';
import { classifyError, createFault } from './call-faults.js';
import type { CallInput, CallResult, Operations } from './call-types.js';
import type { Route } from './operation.js';
import { requestTarget } from './request-target.js';
import { readFault } from './service-fault.js';

/* The client for programs outside of the platform, over the `fetch` of Node. */

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
   * How often a call that only reads is repeated after 429 or 503, by default twice. It waits for as long as `Retry-After`
   * says; for more than a minute, it is not repeated.
   */
  readonly maxRetries?: number;
  /** Names the program, such as `acme-reports/1.2`. Administrators see it beside its token. */
  readonly userAgent?: string;
}

export interface CallOptions {
  /** Aborts the call. */
  readonly signal?: AbortSignal;
  /** The token of this call, in place of the client's. */
  readonly token?: string;
  /** Sent as `x-request-id`, with which the logs of the services name the call. */
  readonly requestId?: string;
}

/** What may be left out when the operation needs no input. */
type InputArguments<Input> = object extends Input
  ? [input?: Input, options?: CallOptions]
  : [input: Input, options?: CallOptions];

/** The items of a page of a list, or of a feed. */
type ItemOf<Result> = Result extends { readonly data: readonly (infer Item)[] }
  ? 'nextCursor' extends keyof Result
    ? Item
    : never
  : never;
/** The operations that list something page by page. */
type ListId<T extends Operations<T>> = {
  [Id in keyof T & string]: [ItemOf<CallResult<T[Id]>>] extends [never] ? never : Id;
}[keyof T & string];

/** Typed calls of one service, by operation id. */
export interface ServiceCalls<T extends Operations<T>> {
  /** @throws ServiceFault when the response is not a success. */
  call<Id extends keyof T & string>(
    id: Id,
    ...args: InputArguments<CallInput<T[Id]>>
  ): Promise<CallResult<T[Id]>>;
  /** Walks through a list, page by page, as it is read. @throws ServiceFault. */
  list<Id extends ListId<T>>(
    id: Id,
    ...args: InputArguments<CallInput<T[Id]>>
  ): AsyncGenerator<ItemOf<CallResult<T[Id]>>, void, undefined>;
}

interface AnyInput {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface AnyPage {
  readonly data: readonly unknown[];
  readonly nextCursor?: string | null;
  /** Of a feed, which has a cursor at its end, too. */
  readonly hasMore?: boolean;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_RETRIES = 2;
const DEFAULT_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;
const PAGE_SIZE = 100;
const USER_AGENT = '@platform/clients';

const isBusy = (status: number): boolean => status === 429 || status === 503;

const NOT_JSON = Symbol('not JSON');

/** @returns undefined for an empty body. */
function parseBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return NOT_JSON;
  }
}

/** Creates the calls of one service. */
export function createServiceCalls<T extends Operations<T>>(
  service: string,
  routes: Readonly<Record<string, Route>>,
  options: PlatformClientOptions,
): ServiceCalls<T> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxRetries = DEFAULT_RETRIES, userAgent } = options;
  const base = options.baseUrl.replace(/\/+$/, '');
  const agent = userAgent === undefined ? USER_AGENT : `${userAgent} ${USER_AGENT}`;

  async function toHeaders(
    input: AnyInput,
    { token, requestId }: CallOptions,
  ): Promise<Record<string, string>> {
    const bearer = token ?? (typeof options.token === 'function' ? await options.token() : options.token);
    return {
      ...input.headers,
      accept: 'application/json',
      'user-agent': agent,
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(requestId !== undefined && { 'x-request-id': requestId }),
      ...(input.body !== undefined && { 'content-type': 'application/json' }),
    };
  }

  async function send(route: Route, input: AnyInput, given: CallOptions) {
    const { signal } = given;
    const timeout = AbortSignal.timeout(timeoutMs);
    const url = base + requestTarget(service, route, input.path, input.query);
    const headers = await toHeaders(input, given);
    try {
      const response = await fetch(url, {
        method: route.method,
        headers,
        ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
        // A token is for the platform's own address alone.
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      return { response, text: await response.text() };
    } catch (error) {
      // `fetch` wraps what the connection failed with.
      const cause = (error as Error).cause ?? error;
      throw createFault(service, route, { kind: classifyError(cause, signal), cause });
    }
  }

  async function call(id: string, input: AnyInput = {}, given: CallOptions = {}): Promise<unknown> {
    const route = routes[id];
    if (!route) throw new RangeError(`${service} has no operation ${id}`);
    const isRead = route.method === 'GET';
    for (let retries = isRead ? maxRetries : 0; ; retries -= 1) {
      const { response, text } = await send(route, input, given);
      const { status, ok } = response;
      const body = parseBody(text);
      if (ok && body !== NOT_JSON) return body;
      const header = response.headers.get('retry-after') ?? undefined;
      const waitMs = readRetryAfter(header, Date.now()) ?? DEFAULT_WAIT_MS;
      if (isBusy(status) && retries > 0 && waitMs <= MAX_WAIT_MS) {
        await delay(waitMs, undefined, { ...(given.signal && { signal: given.signal }) }).catch(() => {
          throw createFault(service, route, { kind: 'aborted' });
        });
        continue;
      }
      const fault = ok ? undefined : readFault(service, { status, body, isRead });
      if (fault) throw fault;
      throw createFault(service, route, { kind: 'invalid_response', cause: new Error(`status ${status}`) });
    }
  }

  async function* list(id: string, input: AnyInput = {}, given: CallOptions = {}): AsyncGenerator {
    let next: Record<string, string> = {};
    for (;;) {
      const query = { limit: PAGE_SIZE, ...input.query, ...next };
      const page = (await call(id, { ...input, query }, given)) as AnyPage;
      yield* page.data;
      const { nextCursor, hasMore } = page;
      if (typeof nextCursor !== 'string' || hasMore === false) return;
      next = hasMore === undefined ? { cursor: nextCursor } : { after: nextCursor };
    }
  }

  return { call, list } as unknown as ServiceCalls<T>;
}
