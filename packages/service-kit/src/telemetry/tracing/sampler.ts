import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';

/**
 * Which traces are recorded; those of a caller that has decided already follow it, where the sampler is `parentbased_…`.
 *
 * @param name - of OTEL_TRACES_SAMPLER.
 * @param ratio - of OTEL_TRACES_SAMPLER_ARG, from 0 to 1.
 */
export function makeSampler(name: string, ratio = 1): Sampler {
  const makeRoot = () => {
    if (name.endsWith('always_off')) return new AlwaysOffSampler();
    return name.endsWith('ratio') ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler();
  };
  const root = makeRoot();
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}
