import { createKeyedSemaphore, createValidatorCompiler, isTracing } from '@platform/service-kit';
import { type Dispatcher, errors, Pool } from 'undici';
import type { CallInput, CallResult, Operations } from './call-types.js';
import type { Operation } from './operation.js';
import { requestTarget } from './request-target.js';
import { readFault, ServiceFault, type ServiceFaultKind } from './service-fault.js';

/** The caller and the request for which a call is made. */
export interface CallContext {
  /** The caller's own credential. */
  readonly token: string;
  /** The caller's organisation; its concurrent calls are limited together. */
  readonly orgId: string;
  readonly requestId: string;
  /** The address of the caller's own client, for services that trust this process as a proxy. */
  readonly clientAddress?: string | undefined;
  /** The request's W3C Trace Context, forwarded unchanged unless this process records traces itself. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined;
}

export interface ServiceClientOptions {
  /** The name of the service in messages. */
  readonly service: string;
  /** The service's own base URL, inside the cluster. */
  readonly baseUrl: string;
  /** The time limit from the first byte sent to the last one read. */
  readonly timeoutMs: number;
  /**
   * The largest number of connections, by default 128. Each carries one call at a time, no call waits for a connection,
   * and one organisation can use a quarter of them.
   */
  readonly connections?: number;
  /** Exchanges the caller's credential for one that the service accepts. By default the caller's own is sent. */
  readonly exchangeToken?: (token: string) => Promise<string>;
}

/** Typed calls of one service, by operation id. */
export interface ServiceClient<T extends Operations<T>> {
  /** @throws ServiceFault whenever the answer isn't the operation's success. */
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

/** The kinds of faults that the client detects itself. */
type OwnKind = Exclude<ServiceFaultKind, 'refused' | 'failed'>;

const textByKind: Readonly<Record<OwnKind, string>> = {
  busy: 'is busy with other calls; nothing was done. Try again later',
  unreachable: "can't be reached; nothing was done. Try again later",
  timeout: 'gave no answer in time',
  invalid_response: "gave an answer that can't be understood",
  aborted: 'was not waited for',
};
const notSent: ReadonlySet<OwnKind> = new Set(['busy', 'unreachable']);

function describe(kind: OwnKind, service: string, { method }: Operation): string {
  const isKnown = method === 'GET' || notSent.has(kind);
  const fate = isKnown ? '' : '; whether it did what it was asked is unknown';
  return `The ${service} service ${textByKind[kind]}${fate}.`;
}

/** The codes of failures that occur before a request is sent. */
// prettier-ignore
const CONNECT_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT',
]);

function toKind(error: unknown, signal: AbortSignal | undefined): OwnKind {
  if (signal?.aborted) return 'aborted';
  if (error instanceof SyntaxError || error instanceof errors.ResponseExceededMaxSizeError)
    return 'invalid_response';
  if (error instanceof errors.HTTPParserError) return 'invalid_response';
  return CONNECT_CODES.has((error as { code?: unknown } | null)?.code) ? 'unreachable' : 'timeout';
}

type Check = (value: unknown) => boolean;

/** Checks responses against their schemas, which are compiled when an operation is first called. */
function createAnswerChecks(operations: Readonly<Record<string, Operation>>): (id: string) => Check {
  const compile = createValidatorCompiler();
  const checks = new Map<string, Check>();
  return (id) => {
    const known = checks.get(id);
    if (known) return known;
    const schema = operations[id]?.answer;
    const check = schema
      ? (compile({ schema, httpPart: 'body', method: '', url: '' }) as Check)
      : (value: unknown) => value === undefined;
    checks.set(id, check);
    return check;
  };
}

function toHeaders(context: CallContext, input: AnyInput): Record<string, string> {
  const { token, requestId, clientAddress, traceparent, tracestate } = context;
  // A process that records spans sends its own trace context, and a second `traceparent` would invalidate both.
  const isPassed = traceparent !== undefined && !isTracing();
  return {
    ...input.headers,
    accept: 'application/json',
    authorization: `Bearer ${token}`,
    'x-request-id': requestId,
    ...(clientAddress !== undefined && { 'x-forwarded-for': clientAddress }),
    ...(input.body !== undefined && { 'content-type': 'application/json' }),
    ...(isPassed && { traceparent }),
    ...(isPassed && tracestate !== undefined && { tracestate }),
  };
}

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
  const permits = createKeyedSemaphore({
    total: connections,
    perKey: Math.max(1, Math.floor(connections / 4)),
  });
  const answerCheck = createAnswerChecks(operations);
  const toFault = (operation: Operation, kind: OwnKind, cause?: unknown) =>
    new ServiceFault({ kind, service, message: describe(kind, service, operation), cause });

  function send(operation: Operation, input: AnyInput, context: CallContext) {
    const timeout = AbortSignal.timeout(timeoutMs);
    return pool.request({
      method: operation.method,
      path: prefix + requestTarget(service, operation, input.path, input.query),
      headers: toHeaders(context, input),
      ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      signal: context.signal ? AbortSignal.any([context.signal, timeout]) : timeout,
    });
  }

  async function exchange(operation: Operation, input: AnyInput, context: CallContext) {
    if (!permits.tryAcquire(context.orgId)) throw toFault(operation, 'busy');
    try {
      const response = await send(operation, input, context);
      return { status: response.statusCode, body: await readBody(response) };
    } catch (error) {
      if (error instanceof ServiceFault) throw error;
      throw toFault(operation, toKind(error, context.signal), error);
    } finally {
      permits.release(context.orgId);
    }
  }

  return {
    async call(id, input, context) {
      const operation = operations[id];
      if (!operation) throw new RangeError(`${service} has no operation ${id}`);
      const token = options.exchangeToken ? await options.exchangeToken(context.token) : context.token;
      const { status, body } = await exchange(operation, input as AnyInput, { ...context, token });
      if (status === operation.status && answerCheck(id)(body)) return body as never;
      const isRead = operation.method === 'GET';
      const told = status >= 400 ? readFault(service, { status, body, isRead }) : undefined;
      throw told ?? toFault(operation, 'invalid_response', new Error(`status ${status}`));
    },
    close: () => pool.close(),
  };
}
