import type * as Sdk from '@opentelemetry/sdk-trace-node';
import type { TracingConfig } from './start.js';

type SamplerConfig = Pick<TracingConfig, 'OTEL_TRACES_SAMPLER' | 'OTEL_TRACES_SAMPLER_ARG'>;

/** Which traces are recorded; those of a caller that has decided already follow it, where the sampler is `parentbased_…`. */
export function makeSampler(sdk: typeof Sdk, config: SamplerConfig): Sdk.Sampler {
  const { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio = 1 } = config;
  const makeRoot = () => {
    if (name.endsWith('always_off')) return new sdk.AlwaysOffSampler();
    return name.endsWith('ratio') ? new sdk.TraceIdRatioBasedSampler(ratio) : new sdk.AlwaysOnSampler();
  };
  const root = makeRoot();
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}
