import type { Tracing, TracingConfig } from './tracing.js';

/**
 * Records traces and sends them to OTEL_EXPORTER_OTLP_ENDPOINT (OTLP/HTTP, JSON); without that variable, or with
 * OTEL_SDK_DISABLED, it does nothing, and the SDK is not loaded. Must be called before the app and its pools are created.
 * Statements of PostgreSQL, commands of Redis and outgoing HTTP are recorded only as part of a request or a message,
 * without parameters and bodies.
 *
 * @param service - the service's name in traces, unless the environment names another.
 */
export async function startTracing(service: string, config: TracingConfig): Promise<Tracing> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config;
  if (endpoint === undefined || config.OTEL_SDK_DISABLED)
    return { reportTo: () => undefined, stop: () => Promise.resolve() };
  const { startSdk } = await import('./sdk.js');
  return startSdk(service, { ...config, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
}
