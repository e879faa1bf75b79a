import type { Tracing, TracingConfig } from './tracing.js';

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
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config;
  if (endpoint === undefined || config.OTEL_SDK_DISABLED)
    return { reportTo: () => undefined, stop: () => Promise.resolve() };
  const { startSdk } = await import('./sdk.js');
  return startSdk(service, { ...config, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, modules);
}
