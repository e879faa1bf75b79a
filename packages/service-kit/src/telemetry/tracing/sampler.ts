import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';

/**
 * Creates the sampler that decides which traces are recorded. A `parentbased_…` sampler follows the caller's decision.
 *
 * @param name - the value of OTEL_TRACES_SAMPLER.
 * @param ratio - the value of OTEL_TRACES_SAMPLER_ARG, from 0 to 1.
 */
export function makeSampler(name: string, ratio = 1): Sampler {
  const makeRoot = () => {
    if (name.endsWith('always_off')) return new AlwaysOffSampler();
    return name.endsWith('ratio') ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler();
  };
  const root = makeRoot();
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}
