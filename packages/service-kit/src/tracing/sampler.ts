import type * as Sdk from '@opentelemetry/sdk-trace-node';

/**
 * Which traces are recorded; those of a caller that has decided already follow it, where the sampler is `parentbased_…`.
 *
 * @param name - of OTEL_TRACES_SAMPLER.
 * @param ratio - of OTEL_TRACES_SAMPLER_ARG, from 0 to 1.
 */
export function makeSampler(sdk: typeof Sdk, name: string, ratio = 1): Sdk.Sampler {
  const makeRoot = () => {
    if (name.endsWith('always_off')) return new sdk.AlwaysOffSampler();
    return name.endsWith('ratio') ? new sdk.TraceIdRatioBasedSampler(ratio) : new sdk.AlwaysOnSampler();
  };
  const root = makeRoot();
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}
