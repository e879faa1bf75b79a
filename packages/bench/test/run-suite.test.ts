import { setTimeout as delay } from 'node:timers/promises';
import { defineMeasurement, type Measurement } from '../src/runner/measurement.js';
import { type MeasuredValue, runSuite } from '../src/runner/run-suite.js';

const define = (name: string, run: Measurement['run'], limitSeconds = 60) =>
  defineMeasurement({ title: name, limitSeconds, values: { [name]: { note: '' } }, run });

async function runAll(measurements: readonly Measurement[], only: readonly string[] = []) {
  const measured: MeasuredValue[] = [];
  const failures = await runSuite(
    { name: 'any', title: 'any', isPinned: false, measurements },
    {
      only: new Set(only),
      seconds: 1,
      patience: 1,
      progress: () => undefined,
      onMeasured: async (values) => void measured.push(...(await Promise.resolve(values))),
    },
  );
  return { values: Object.fromEntries(measured.map(({ name, value }) => [name, value])), failures };
}

test('keeps the values of the other measurements when one fails or exceeds its time limit', async () => {
  const stopped: string[] = [];
  const { values, failures } = await runAll([
    define('first', () => Promise.resolve({ first: 1 })),
    define('broken', () => Promise.reject(new Error('no Kafka'))),
    define(
      'endless',
      async ({ keep }) => {
        keep({ stop: () => stopped.push('server of endless') });
        await delay(60_000, undefined, { ref: false });
        return { endless: 1 };
      },
      0.01,
    ),
    define('last', () => Promise.resolve({ last: 2 })),
  ]);
  expect(values).toEqual({ first: 1, last: 2 });
  expect(failures).toEqual([new Error('no Kafka'), new Error('endless: not finished within 0.01 s')]);
  expect(stopped).toEqual(['server of endless']);
});

test('starts what measurements share once, and stops it after the last one', async () => {
  const events: string[] = [];
  const startShared = ({ keep }: Parameters<Measurement['run']>[0]) => {
    events.push('started');
    return Promise.resolve(keep({ stop: () => events.push('stopped') }));
  };
  const measure = (name: string) =>
    define(name, async ({ share }) => {
      await share(startShared);
      events.push(name);
      return { [name]: 1 };
    });
  await runAll([measure('first'), measure('second')]);
  expect(events).toEqual(['started', 'first', 'second', 'stopped']);
});

test('measures what is named only', async () => {
  const measurements = [
    define('first', () => Promise.resolve({ first: 1 })),
    { ...define('long', () => Promise.resolve({ long: 1 })), isLong: true as const },
  ];
  expect((await runAll(measurements)).values).toEqual({ first: 1 });
  expect((await runAll(measurements, ['long'])).values).toEqual({ long: 1 });
});
