import { hostname } from 'node:os';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { VERSION } from '../../version.js';
import { watchExporter } from './exporter.js';
import { recordRedisSpans } from './redis-spans.js';
import { makeSampler } from './sampler.js';
import { setTracing } from './spans.js';
import type { Tracing, TracingConfig } from './tracing.js';

/** The time, in ms, for which the shutdown waits for the collector before it drops the remaining spans. */
const EXPORT_TIMEOUT_MS = 3_000;

const withoutQuery = (url: string): string => url.split('?', 1)[0] ?? '';

/** The SDK takes 0.3 s to load, so this module is imported only by processes that record traces. */
export function startSdk(
  service: string,
  config: TracingConfig & { readonly OTEL_EXPORTER_OTLP_ENDPOINT: string },
): Tracing {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: named } = config;
  const { exporter, reportTo } = watchExporter(
    new OTLPTraceExporter({
      url: `${endpoint}/v1/traces`,
      headers: { ...config.OTEL_EXPORTER_OTLP_HEADERS },
      timeoutMillis: EXPORT_TIMEOUT_MS,
    }),
  );
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          'service.name': service,
          'service.namespace': 'platform',
          'service.version': VERSION,
          // In a cluster, the name of the pod.
          'service.instance.id': `${hostname()}/${process.pid}`,
        }),
      )
      .merge(resourceFromAttributes(config.OTEL_RESOURCE_ATTRIBUTES))
      .merge(resourceFromAttributes(named === undefined ? {} : { 'service.name': named })),
    sampler: makeSampler(config.OTEL_TRACES_SAMPLER, config.OTEL_TRACES_SAMPLER_ARG),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  provider.register();
  const httpInstrumentation = new UndiciInstrumentation({
    requireParentforSpans: true,
    requestHook: (span, { origin, path }) => {
      // A query string can contain a secret.
      span.setAttributes({ 'url.full': origin + withoutQuery(path), 'url.query': '' });
    },
  });
  httpInstrumentation.setTracerProvider(provider);
  const stopRedisSpans = recordRedisSpans();
  setTracing(true);
  return {
    reportTo,
    async stop() {
      setTracing(false);
      httpInstrumentation.disable();
      stopRedisSpans();
      // Spans that the collector rejects at the end are reported as at any other time.
      await provider.shutdown().catch(() => undefined);
    },
  };
}
