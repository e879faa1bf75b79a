import { collect } from '../src/collect.js';
import type { Suite } from '../src/suite.js';

const options = { only: new Set<string>(), seconds: 1, progress: () => undefined };
const createSuite = (run: Suite['run']): Suite => ({ name: 'any', title: 'any', parts: [], run });
const createPart = (name: string) => ({
  figures: [{ name, value: 1, unit: 'ms', note: '' }],
  ratios: [{ name: `${name}_vs_raw`, value: 2, note: '' }],
});

test('collects the figures of all parts', async () => {
  const suite = createSuite(async function* () {
    yield await Promise.resolve(createPart('first'));
    yield createPart('second');
  });
  const { result, failure } = await collect(suite, options);
  expect(result.figures.map(({ name }) => name)).toEqual(['first', 'second']);
  expect(failure).toBeUndefined();
});

test('keeps the figures from before a part failed, and closes the suite in order', async () => {
  let isClosed = false;
  const suite = createSuite(async function* () {
    try {
      yield await Promise.resolve(createPart('first'));
      throw new Error('no Kafka');
    } finally {
      isClosed = true;
    }
  });
  const { result, failure } = await collect(suite, options);
  expect(result.ratios.map(({ name }) => name)).toEqual(['first_vs_raw']);
  expect(failure).toEqual(new Error('no Kafka'));
  expect(isClosed).toBe(true);
});
