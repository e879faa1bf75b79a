import type { SpanExporter } from '@opentelemetry/sdk-trace-node';
import type { Logger } from 'pino';

/** `ExportResultCode.SUCCESS` of the SDK. */
const SUCCESS = 0;

const WARN_EVERY_MS = 10 * 60_000;

export interface WatchedExporter {
  readonly exporter: SpanExporter;
  reportTo(log: Pick<Logger, 'warn'>): void;
}

/** Warns when the collector rejects spans, once in ten minutes; the SDK drops them silently. */
export function watchExporter(exporter: SpanExporter): WatchedExporter {
  let log: Pick<Logger, 'warn'> | undefined;
  let warnedAt = -Infinity;
  function report(err: Error | undefined): void {
    const now = performance.now();
    if (log === undefined || now - warnedAt < WARN_EVERY_MS) return;
    warnedAt = now;
    log.warn({ err }, 'traces are lost: the collector does not accept them');
  }
  return {
    reportTo(target) {
      log = target;
    },
    exporter: {
      export(spans, done) {
        exporter.export(spans, (result) => {
          const code: number = result.code;
          if (code !== SUCCESS) report(result.error);
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
      forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    },
  };
}
