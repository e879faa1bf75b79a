import pg from 'pg';
import type { Logger } from 'pino';
import type { Values } from '../config.js';
import type { serviceVariables } from '../service-variables.js';
import { watchExporter } from './exporter.js';
import { makeSampler } from './sampler.js';
import { setTracing } from './spans.js';

/** Of the environment; what else of OTEL_* there is, such as OTEL_BSP_SCHEDULE_DELAY, the SDK reads itself. */
export type TracingConfig = Pick<
  Values<typeof serviceVariables>,
  `OTEL_${string}` & keyof typeof serviceVariables
>;

export interface Tracing {
  /** Where to tell that the collector takes no traces. What happened before is not told. */
  reportTo(log: Pick<Logger, 'warn'>): void;
  /** Sends what is recorded, and ends. */
  stop(): Promise<void>;
}

/** How long a collector may take before what is left is given up at the end, in milliseconds. */
const EXPORT_TIMEOUT_MS = 3_000;

const withoutQuery = (url: string): string => url.split('?', 1)[0] ?? '';

/**
 * Records traces and sends them to OTEL_EXPORTER_OTLP_ENDPOINT (OTLP/HTTP, JSON); without that variable, or with
 * OTEL_SDK_DISABLED, it does nothing, and the SDK isn't loaded. To be called before the app is made. PostgreSQL, outgoing HTTP and, where its class is given, Redis
 * are recorded below a request or a message, never by themselves; no parameters, no bodies.
 *
 * @param service - its name in traces, where the environment gives no other.
 */
export async function startTracing(
  service: string,
  config: TracingConfig,
  modules: { readonly Redis?: unknown } = {},
): Promise<Tracing> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: named } = config;
  if (endpoint === undefined || config.OTEL_SDK_DISABLED)
    return { reportTo: () => undefined, stop: () => Promise.resolve() };
  const [sdk, { OTLPTraceExporter }, resources, { PgInstrumentation }, { IORedisInstrumentation }, { UndiciInstrumentation }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/instrumentation-pg'),
      import('@opentelemetry/instrumentation-ioredis'),
      import('@opentelemetry/instrumentation-undici'),
    ]); // prettier-ignore
  const { exporter, reportTo } = watchExporter(
    new OTLPTraceExporter({
      url: `${endpoint}/v1/traces`,
      headers: { ...config.OTEL_EXPORTER_OTLP_HEADERS },
      timeoutMillis: EXPORT_TIMEOUT_MS,
    }),
  );
  const provider = new sdk.NodeTracerProvider({
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': service, 'service.namespace': 'platform' }))
      .merge(resources.resourceFromAttributes(config.OTEL_RESOURCE_ATTRIBUTES))
      .merge(resources.resourceFromAttributes(named === undefined ? {} : { 'service.name': named })),
    sampler: makeSampler(sdk, config.OTEL_TRACES_SAMPLER, config.OTEL_TRACES_SAMPLER_ARG),
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
    reportTo,
    async stop() {
      setTracing(false);
      ofHttp.disable();
      // What the collector doesn't take at the end is told as at any other time.
      await provider.shutdown().catch(() => undefined);
    },
  };
}
