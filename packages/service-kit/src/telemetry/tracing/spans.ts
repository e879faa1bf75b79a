import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/*
 * The tracing functions that the platform's code uses. Until the SDK is started, each of them only checks a variable.
 */

let isOn = false;

/** Returns whether this process records traces; see `startTracing`. */
export const isTracing = (): boolean => isOn;

export function setTracing(on: boolean): void {
  isOn = on;
}

export const tracer = () => trace.getTracer('platform');

/** Returns the current W3C Trace Context (`traceparent`), to be sent or stored; undefined outside of a trace. */
export function currentTraceparent(): string | undefined {
  if (!isOn) return undefined;
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** Returns the ids of the current trace for log lines. */
export function currentTraceIds(): { trace_id?: string; span_id?: string } {
  const span = trace.getActiveSpan()?.spanContext();
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
}

export interface SpanOptions {
  readonly name: string;
  /** The `traceparent` of the message; without one, a new trace begins. */
  readonly parent: string | undefined;
  /** Attributes are names and numbers, never content. */
  readonly attributes: Attributes;
}

/** The span of a message that is about to be sent; the message carries its `traceparent`. */
export interface PublishSpan {
  readonly traceparent: string;
  end(): void;
}

/**
 * @param parent - the `traceparent` that was stored with the message; without one, the message belongs to no trace.
 * @returns undefined without a parent; otherwise a span, even while this process records nothing, so that the trace
 * continues.
 */
export function startPublishSpan(destination: string, parent: string | null): PublishSpan | undefined {
  if (parent === null) return undefined;
  if (!isOn) return { traceparent: parent, end: () => undefined };
  const from = propagation.extract(ROOT_CONTEXT, { traceparent: parent });
  const attributes = { 'messaging.system': 'kafka', 'messaging.destination.name': destination };
  const span = tracer().startSpan(`send ${destination}`, { kind: SpanKind.PRODUCER, attributes }, from);
  const carrier: { traceparent?: string } = {};
  propagation.inject(trace.setSpan(from, span), carrier);
  return {
    traceparent: carrier.traceparent ?? parent,
    end: () => {
      span.end();
    },
  };
}

/**
 * Runs an operation of the current request in a child span.
 *
 * @param work - gets a function that marks the operation as failed, with its `error.type`.
 */
export async function withOperationSpan<T>(
  { name, attributes }: Pick<SpanOptions, 'name' | 'attributes'>,
  work: (fail: (errorType: string) => void) => Promise<T>,
): Promise<T> {
  if (!isOn) return work(() => undefined);
  return tracer().startActiveSpan(name, { kind: SpanKind.SERVER, attributes }, async (span) => {
    try {
      return await work((errorType) => {
        span.setAttribute('error.type', errorType);
        span.setStatus({ code: SpanStatusCode.ERROR });
      });
    } finally {
      span.end();
    }
  });
}

/** Runs the work for a message as a part of the message's trace. */
export async function withSpan<T>(options: SpanOptions, work: () => Promise<T>): Promise<T> {
  if (!isOn) return work();
  const { name, parent, attributes } = options;
  const from = propagation.extract(ROOT_CONTEXT, { traceparent: parent });
  return tracer().startActiveSpan(name, { kind: SpanKind.CONSUMER, attributes }, from, async (span) => {
    try {
      return await work();
    } catch (error) {
      // The message is omitted, because it may quote what a trace must not contain.
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
