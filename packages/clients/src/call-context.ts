import { isTracing } from '@platform/service-kit';

/** The caller and the request for which a call is made. */
export interface CallContext {
  /** The caller's own credential. */
  readonly token: string;
  /** The caller's organisation; its concurrent calls are limited together, as are those without one. */
  readonly orgId?: string | undefined;
  /** The id of the request that causes the call. */
  readonly requestId?: string | undefined;
  /** The address of the caller's own client, for services that trust this process as a proxy. */
  readonly clientAddress?: string | undefined;
  /** The request's W3C Trace Context, forwarded unchanged unless this process records traces itself. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined;
}

/** Returns the headers that carry the context of a call. */
export function toContextHeaders(context: CallContext): Record<string, string> {
  const { token, requestId, clientAddress, traceparent, tracestate } = context;
  // A process that records spans sends its own trace context, and a second `traceparent` would invalidate both.
  const isPassed = traceparent !== undefined && !isTracing();
  return {
    authorization: `Bearer ${token}`,
    ...(requestId !== undefined && { 'x-request-id': requestId }),
    ...(clientAddress !== undefined && { 'x-forwarded-for': clientAddress }),
    ...(isPassed && { traceparent }),
    ...(isPassed && tracestate !== undefined && { tracestate }),
  };
}
