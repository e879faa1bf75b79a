import { tracingChannel } from 'node:diagnostics_channel';
import { type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { tracer } from './spans.js';

/** The message that ioredis publishes for each command (see "Diagnostics Channel" in its README). */
interface CommandMessage {
  readonly command: string;
}

/**
 * Records each Redis command as a span of the current request or message; commands outside of one are not recorded.
 *
 * @returns a function that ends the recording.
 */
export function recordRedisSpans(): () => void {
  const channel = tracingChannel<unknown, CommandMessage>('ioredis:command');
  const spans = new WeakMap<CommandMessage, Span>();
  const subscribers = {
    start(message: CommandMessage) {
      if (trace.getActiveSpan() === undefined) return;
      const operation = message.command.toUpperCase();
      const attributes = {
        'db.system.name': 'redis',
        'db.operation.name': operation,
      };
      spans.set(message, tracer().startSpan(operation, { kind: SpanKind.CLIENT, attributes }));
    },
    end() {},
    asyncStart() {},
    asyncEnd(message: CommandMessage) {
      spans.get(message)?.end();
    },
    error(message: CommandMessage) {
      spans.get(message)?.setStatus({ code: SpanStatusCode.ERROR });
    },
  };
  channel.subscribe(subscribers);
  return () => {
    channel.unsubscribe(subscribers);
  };
}
