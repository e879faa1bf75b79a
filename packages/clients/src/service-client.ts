import { createPermits } from '@platform/service-kit';
import { type Dispatcher, Pool } from 'undici';
import { createAnswerChecks } from './answer-checks.js';
import { type CallContext, toContextHeaders } from './call-context.js';
import { classifyError, createFault } from './call-faults.js';
import type { CallInput, CallResult, Operations } from './call-types.js';
import type { Operation } from './operation.js';
import { InvalidSegment, requestTarget } from './request-target.js';
import { readFault, ServiceFault } from './service-fault.js';

export interface ServiceClientOptions {
  /** The name of the service in messages. */
  readonly service: string;
  /** The URL of the gateway, or inside the cluster the service's own. */
  readonly baseUrl: string;
  /** The time limit from the first byte sent to the last one read. */
  readonly timeoutMs: number;
  /**
   * The largest number of connections, by default 128. Each carries one call at a time, no call waits for a connection,
   * and one organisation can use a quarter of them.
   */
  readonly connections?: number;
  /** Exchanges the caller's credential for one the service accepts. By default the caller's own is sent. */
  readonly exchangeToken?: (token: string) => Promise<string>;
}

/** Typed calls of one service, by operation id. */
export interface ServiceClient<T extends Operations<T>> {
  /** @throws ServiceFault when the response is not a success of the operation. */
  call<Id extends keyof T & string>(
    id: Id,
    input: CallInput<T[Id]>,
    context: CallContext,
  ): Promise<CallResult<T[Id]>>;
  close(): Promise<void>;
}

interface AnyInput {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const CONNECT_TIMEOUT_MS = 1_000;
/** Far more than any response of the platform. */
const MAX_ANSWER_BYTES = 8 * 1_048_576;

async function readBody({ body }: Dispatcher.ResponseData): Promise<unknown> {
  const text = await body.text();
  return text === '' ? undefined : JSON.parse(text);
}

/** Creates a client over a pool of kept-alive connections. It never retries a request. */
export function createServiceClient<T extends Operations<T>>(
  operations: Readonly<Record<string, Operation>>,
  options: ServiceClientOptions,
): ServiceClient<T> {
  const { service, timeoutMs, connections = 128 } = options;
  const base = new URL(options.baseUrl);
  const prefix = base.pathname.replace(/\/$/, '');
  const pool = new Pool(base.origin, {
    connections,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: MAX_ANSWER_BYTES,
  });
  // A call that waited for a connection could reach its timeout unsent, and the caller could not know.
  const permits = createPermits({
    total: connections,
    perKey: Math.max(1, Math.floor(connections / 4)),
  });
  const isSuccess = createAnswerChecks();

  /** A tool passes on what a model has chosen, so a value that can't be sent is a refusal that can be shown. */
  function toTarget(operation: Operation, { path, query }: AnyInput): string {
    try {
      return requestTarget(operation, path, query);
    } catch (error) {
      if (!(error instanceof InvalidSegment)) throw error;
      const details = [{ field: error.field, message: "can't be part of a path" }];
      const invalid = { status: 400, code: 'VALIDATION_ERROR', message: 'Invalid request', details };
      throw new ServiceFault({ kind: 'refused', service, ...invalid });
    }
  }

  function send(operation: Operation, input: AnyInput, context: CallContext) {
    const timeout = AbortSignal.timeout(timeoutMs);
    return pool.request({
      method: operation.method,
      path: prefix + toTarget(operation, input),
      headers: {
        ...input.headers,
        ...toContextHeaders(context),
        accept: 'application/json',
        ...(input.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      signal: context.signal ? AbortSignal.any([context.signal, timeout]) : timeout,
    });
  }

  async function exchange(operation: Operation, input: AnyInput, context: CallContext) {
    const key = context.orgId ?? '';
    if (!permits.tryAcquire(key)) throw createFault(service, operation, { kind: 'busy' });
    try {
      const response = await send(operation, input, context);
      return { status: response.statusCode, body: await readBody(response) };
    } catch (error) {
      if (error instanceof ServiceFault) throw error;
      throw createFault(service, operation, { kind: classifyError(error, context.signal), cause: error });
    } finally {
      permits.release(key);
    }
  }

  return {
    async call(id, input, context) {
      const operation = operations[id];
      if (!operation) throw new RangeError(`${service} has no operation ${id}`);
      const token = options.exchangeToken ? await options.exchangeToken(context.token) : context.token;
      const { status, body } = await exchange(operation, input as AnyInput, { ...context, token });
      if (isSuccess(operation, status, body)) return body as never;
      const isRead = operation.method === 'GET';
      const fault = status >= 400 ? readFault(service, { status, body, isRead }) : undefined;
      if (fault) throw fault;
      const cause = new Error(`status ${status}`);
      throw createFault(service, operation, { kind: 'invalid_response', cause });
    },
    close: () => pool.close(),
  };
}
