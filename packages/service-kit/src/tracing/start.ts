import pg from 'pg';
import { setTracing } from './spans.js';

/** Of the environment; what else of OTEL_* there is, the SDK reads itself. */
export interface TracingConfig {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT: string | undefined;
  readonly OTEL_EXPORTER_OTLP_HEADERS: Readonly<Record<string, string>>;
}

export interface Tracing {
  /** Sends what is recorded, and ends. */
  stop(): Promise<void>;
}

/** How long a collector may take before what is left is given up at the end, in milliseconds. */
const EXPORT_TIMEOUT_MS = 3_000;

const withoutQuery = (url: string): string => url.split('?', 1)[0] ?? '';

/**
 * Records traces and sends them to OTEL_EXPORTER_OTLP_ENDPOINT (OTLP/HTTP, JSON); without that variable it does nothing, and
 * the SDK isn't loaded. To be called before the app is made. PostgreSQL, outgoing HTTP and, where its class is given, Redis
 * are recorded below a request or a message, never by themselves; no parameters, no bodies.
 */
export async function startTracing(
  service: string,
  config: TracingConfig,
  modules: { readonly Redis?: unknown } = {},
): Promise<Tracing> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return { stop: () => Promise.resolve() };
  const [sdk, { OTLPTraceExporter }, resources, { PgInstrumentation }, { IORedisInstrumentation }, { UndiciInstrumentation }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/instrumentation-pg'),
      import('@opentelemetry/instrumentation-ioredis'),
      import('@opentelemetry/instrumentation-undici'),
    ]); // prettier-ignore
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    headers: { ...config.OTEL_EXPORTER_OTLP_HEADERS },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new sdk.NodeTracerProvider({
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': service, 'service.namespace': 'platform' }))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter)],
  });
  provider.register();
  // Both patch prototypes: done directly, that needs no hook into the loading of modules.
  const ofPg = new PgInstrumentation({ enabled: false, requireParentSpan: true });
  ofPg
    .getModuleDefinitions()
    .find(({ name }) => name === 'pg')
    ?.patch?.(pg);
  const ofRedis = new IORedisInstrumentation({ enabled: false, dbStatementSerializer: (command) => command });
  if (modules.Redis !== undefined) ofRedis.getModuleDefinitions()[0]?.patch?.(modules.Redis);
  const ofHttp = new UndiciInstrumentation({
    requireParentforSpans: true,
    requestHook: (span, { origin, path }) => {
      // A query can carry a secret.
      span.setAttributes({ 'url.full': origin + withoutQuery(path), 'url.query': '' });
    },
  });
  for (const instrumentation of [ofPg, ofRedis, ofHttp]) instrumentation.setTracerProvider(provider);
  setTracing(true);
  return {
    async stop() {
      setTracing(false);
      ofHttp.disable();
      await provider.shutdown();
    },
  };
}
