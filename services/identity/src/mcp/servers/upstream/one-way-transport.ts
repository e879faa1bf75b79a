import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { type Dispatcher, fetch, Headers, type RequestInit, Response } from 'undici';
import { UpstreamFault } from '../../../base/egress/faults.js';
import type { Allowance, Allowances } from './allowance.js';
import { createEventFilter, createJsonFilter, createResponseReader, withCallTexts } from './relayed-texts.js';

type Fetch = NonNullable<
  NonNullable<ConstructorParameters<typeof StreamableHTTPClientTransport>[1]>['fetch']
>;

export interface TransportOptions {
  readonly url: string;
  readonly dispatcher: Dispatcher;
  readonly allowances: Allowances;
  /** Returns the headers that identify the caller. Called for each request. */
  readonly createHeaders: () => Promise<Readonly<Record<string, string>>>;
  /** After this time an answer is broken off, also a stream that the client no longer waits for. */
  readonly maxAnswerMs: number;
}

const OPENING_BRACE = 0x7b;
const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

type Body = NonNullable<Response['body']>;

/**
 * Passes a body on while the operation that it belongs to may receive more. As JSON it is one message: no request of
 * ours is a batch, so that an answer that is an array only means harm.
 */
function limitBody(body: Body, isJson: boolean, allowance: Allowance | undefined): Body {
  let isBegun = !isJson;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (!allowance) throw new UpstreamFault('too_large');
        allowance.acquire(chunk.byteLength);
        const first = isBegun ? undefined : chunk.find((byte) => !isSpace(byte));
        if (first !== undefined && first !== OPENING_BRACE) throw new UpstreamFault('invalid_answer');
        isBegun ||= first !== undefined;
        controller.enqueue(chunk);
      },
    }),
  );
}

/**
 * Limits the body of an answer, and reads its messages on their way to the client.
 *
 * @param request - the message that is answered; empty when none was sent.
 */
function filterBody(
  body: Body,
  { ok, headers }: Response,
  request: string,
  allowance: Allowance | undefined,
): Body {
  const type = headers.get('content-type') ?? '';
  const isJson = ok && type.includes('json');
  const limited = limitBody(body, isJson, allowance);
  if (!ok || !allowance || request === '') return limited;
  const read = createResponseReader(request, allowance.texts);
  if (isJson) return limited.pipeThrough(createJsonFilter(read));
  return type.includes('event-stream') ? limited.pipeThrough(createEventFilter(read)) : limited;
}

/**
 * Creates the fetch of a connection. It opens no stream for messages that nobody asked for, follows no redirect, and
 * accepts no compressed answer, because the size of an answer is limited as it is received.
 */
function createFetch({ dispatcher, allowances, createHeaders, maxAnswerMs }: TransportOptions): Fetch {
  const guarded = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    if (init.method === 'GET') return new Response(null, { status: 405 });
    const headers = new Headers(init.headers);
    headers.set('accept-encoding', 'identity');
    for (const [name, value] of Object.entries(await createHeaders())) headers.set(name, value);
    const allowance = allowances.getCurrent();
    const signals = [init.signal, allowance?.signal, AbortSignal.timeout(maxAnswerMs)];
    const signal = AbortSignal.any(signals.filter((found) => found !== null && found !== undefined));
    const message = typeof init.body === 'string' ? init.body : '';
    const call = allowance?.texts.call;
    const body = call ? withCallTexts(message, call) : message;
    const response = await fetch(url, { ...init, body, headers, signal, dispatcher, redirect: 'manual' });
    const encoding = response.headers.get('content-encoding');
    const isRedirect = response.status >= 300 && response.status < 400;
    if (isRedirect || (encoding !== null && encoding !== 'identity')) {
      await response.body?.cancel();
      throw isRedirect ? new UpstreamFault('redirect', response.status) : new UpstreamFault('invalid_answer');
    }
    if (!response.body) return response;
    return new Response(filterBody(response.body, response, message, allowance), response);
  };
  // The types of Node's own fetch, which the client expects, are those of another version of the same library.
  return guarded as unknown as Fetch;
}

/**
 * Creates a transport that asks and is never asked. The client would answer each request of a server, such as a ping,
 * with a request; here these requests are dropped, and a server that goes on sending them is disconnected.
 */
export function createOneWayTransport(options: TransportOptions): Transport {
  const inner = new StreamableHTTPClientTransport(new URL(options.url), {
    fetch: createFetch(options),
    requestInit: { redirect: 'manual' },
    onInsufficientScope: 'throw',
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
  });
  const transport: Transport = {
    hasPerRequestStream: true,
    get sessionId() {
      return inner.sessionId;
    },
    start: () => inner.start(),
    close: () => inner.close(),
    setProtocolVersion: (version) => {
      inner.setProtocolVersion(version);
    },
    async send(message, { requestSignal, onRequestStreamEnd, headers } = {}) {
      if (!('method' in message)) return;
      await inner.send(message, {
        ...(requestSignal && { requestSignal }),
        ...(onRequestStreamEnd && { onRequestStreamEnd }),
        ...(headers && { headers }),
      });
    },
  };
  /* oxlint-disable unicorn/prefer-add-event-listener -- the interface of transports has no events */
  inner.onmessage = (message) => {
    if ('method' in message && 'id' in message) options.allowances.getCurrent()?.drop();
    else transport.onmessage?.(message);
  };
  inner.onclose = () => transport.onclose?.();
  inner.onerror = (error) => transport.onerror?.(error);
  /* oxlint-enable unicorn/prefer-add-event-listener */
  return transport;
}
