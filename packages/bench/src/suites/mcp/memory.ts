import { measureGrowth } from '../../load/growth.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { loadWith, startEndpoint } from './endpoint.js';

/** Takes minutes, so it is done only when it is named. */
const CALLS_WHEN_NAMED = 1_000_000;
const CALLS = 100_000;
/** By then V8 has compiled the hot code and the caches are full. */
const WARM_UP_CALLS = 50_000;

export const memory = defineMeasurement({
  title: 'memory of identity under tools/call',
  limitSeconds: 300,
  values: {
    resident_growth: {
      bar: { max: 1.1 },
      note: 'memory after / before 100,000 tools/call, a million when named',
    },
  },
  async run(fixture) {
    const identity = await fixture.share(startEndpoint);
    const calls = fixture.isNamed ? CALLS_WHEN_NAMED : CALLS;
    const callMany = (requests: number) => loadWith(identity, identity.tokens, 'call', { requests });
    await callMany(WARM_UP_CALLS);
    const { early, late } = await measureGrowth(fixture, identity, (steps) => callMany(calls / steps));
    return { resident_growth: late / early };
  },
});
