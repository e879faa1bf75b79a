import { context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import pg from 'pg';
import { tracer } from './spans.js';

type Callback = (error: unknown, ...results: unknown[]) => void;
type Query = (this: pg.Client, ...args: unknown[]) => unknown;

function readText(statement: unknown): string {
  if (typeof statement === 'string') return statement;
  const { text } = (statement ?? {}) as { text?: unknown };
  return typeof text === 'string' ? text : '';
}

function startSpan(text: string): Span {
  const operation = /^\s*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? 'statement';
  const attributes = {
    'db.system.name': 'postgresql',
    'db.operation.name': operation,
    // The statement is parameterised, so it contains no values.
    'db.query.text': text,
  };
  return tracer().startSpan(operation, { kind: SpanKind.CLIENT, attributes });
}

function endSpan(span: Span, error: unknown): void {
  // The message is omitted, because it may quote a value.
  if (error) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Records each statement as a span of the current request or message; statements outside of one are not recorded. */
export class TracedClient extends pg.Client {
  override readonly query = ((statement: unknown, ...rest: unknown[]) => {
    const send = (...args: unknown[]) => (super.query as Query).call(this, statement, ...args);
    if (trace.getActiveSpan() === undefined) return send(...rest);
    const span = startSpan(readText(statement));
    const callback = rest.at(-1);
    if (typeof callback === 'function') {
      const inContext = context.bind(context.active(), callback as Callback);
      const end: Callback = (error, ...results) => {
        endSpan(span, error);
        inContext(error, ...results);
      };
      return send(...rest.slice(0, -1), end);
    }
    const result = send(...rest);
    if (result instanceof Promise)
      result.then(
        () => endSpan(span, undefined),
        (error: unknown) => endSpan(span, error),
      );
    else span.end();
    return result;
  }) as pg.Client['query'];
}
