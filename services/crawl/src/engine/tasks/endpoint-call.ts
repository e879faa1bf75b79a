import { randomUUID } from 'node:crypto';
import { type Clock, readRetryAfter, signatureHeaders } from '@platform/service-kit';
import type { Dispatcher } from 'undici';
import { EndpointUnavailable } from './task.js';

/** The validated parts of an endpoint's response. */
export interface EndpointResponse {
  readonly status: number;
  /** Undefined when the body isn't JSON. */
  readonly body: unknown;
  readonly location: string | undefined;
  readonly retryAfterMs: number | undefined;
}

/** The limit of a response's body. */
const MAX_BODY_BYTES = 65_536;
/**
 * The timeout of a request for progress. The order itself may be answered only when it is done: the run's own timeout
 * limits it.
 */
const POLL_TIMEOUT_MS = 30_000;
/** The time limit for reading the body of an error; after it, the connection is closed. */
const DISCARD_TIMEOUT_MS = 1_000;

/** Sent by an overloaded endpoint, and by proxies while the endpoint behind them is being replaced. */
const UNAVAILABLE_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** The connection failed: the request may or may not have arrived. What people read of it, by its code. */
const CONNECTION_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  UND_ERR_SOCKET: 'it closed the connection',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  EHOSTDOWN: 'there is no route to it',
  EDENIED: 'its host has no address that may be called',
  EAI_AGAIN: 'its name cannot be looked up',
  ESERVFAIL: 'its name cannot be looked up',
  ETIMEOUT: 'its name cannot be looked up',
  ECANCELLED: 'its name cannot be looked up',
};

async function readBody(body: Dispatcher.ResponseData['body']): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the stream, and with it the connection.
    if (bytes > MAX_BODY_BYTES)
      throw new Error(`The endpoint answered with more than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

const toText = (header: string | string[] | undefined): string | undefined => [header].flat()[0];

export interface EndpointRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly requestId: string;
  readonly order?: {
    readonly body: string;
    readonly idempotencyKey: string;
    readonly deadline: string;
    readonly lease: string;
  };
  readonly signal: AbortSignal;
}

export interface EndpointAccess {
  readonly dispatcher: Dispatcher;
  /** Returns the keys that sign a request, as of now: they may be rotated during an order. No other secret is ever sent. */
  readonly getSecrets: () => readonly Buffer[] | Promise<readonly Buffer[]>;
  readonly clock: Clock;
}

async function toHeaders(
  { method, url, requestId, order }: EndpointRequest,
  { getSecrets, clock }: EndpointAccess,
) {
  return {
    accept: 'application/json',
    'x-request-id': requestId,
    ...signatureHeaders(await getSecrets(), {
      id: order?.idempotencyKey ?? randomUUID(),
      at: clock(),
      content: order?.body ?? `${method} ${url.pathname}${url.search}`,
    }),
    ...(order && {
      'content-type': 'application/json',
      'idempotency-key': order.idempotencyKey,
      'x-run-deadline': order.deadline,
      'x-run-lease': order.lease,
    }),
  };
}

function toEndpointError(error: unknown): Error {
  if (error instanceof EndpointUnavailable) return error;
  const { code, message, name } = error as { code?: unknown; message: string; name?: string };
  const connectionError = typeof code === 'string' ? CONNECTION_ERRORS[code] : undefined;
  const isLate = name === 'TimeoutError';
  // The code of an error of the system says nothing to whoever reads the run; the log has it.
  const isOfSystem = typeof code === 'string' && /^E[A-Z]+$/.test(code);
  const fault = connectionError ?? (isOfSystem ? 'the connection failed' : message);
  const why = `The endpoint could not be reached: ${isLate ? 'it did not answer in time' : fault}`;
  const isAway = connectionError !== undefined || isLate;
  return isAway
    ? new EndpointUnavailable(why, undefined, { cause: error })
    : new Error(why, { cause: error });
}

/**
 * Sends one request. Redirects are not followed: the order is for the configured origin alone.
 *
 * @throws EndpointUnavailable when the endpoint is unavailable or says so; Error for every other fault. Both have
 * messages of the platform that can be shown as the run's reason, never the text of the response.
 */
export async function callEndpoint(
  access: EndpointAccess,
  request: EndpointRequest,
): Promise<EndpointResponse> {
  const { method, url, order, signal } = request;
  try {
    const response = await access.dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: await toHeaders(request, access),
      ...(order && { body: order.body }),
      signal: method === 'POST' ? signal : AbortSignal.any([signal, AbortSignal.timeout(POLL_TIMEOUT_MS)]),
    });
    const { statusCode: status, headers, body } = response;
    const retryAfterMs = readRetryAfter(toText(headers['retry-after']), access.clock());
    if (UNAVAILABLE_STATUSES.has(status)) {
      const given = AbortSignal.timeout(DISCARD_TIMEOUT_MS);
      await body.dump({ limit: MAX_BODY_BYTES, signal: given }).catch(() => undefined);
      throw new EndpointUnavailable(`The endpoint answered ${status}`, retryAfterMs, undefined, status);
    }
    return { status, location: toText(headers['location']), retryAfterMs, body: await readBody(body) };
  } catch (error) {
    throw toEndpointError(error);
  }
}
