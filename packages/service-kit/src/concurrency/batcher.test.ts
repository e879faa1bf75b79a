import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBatcher } from './batcher.js';

/** Records the batches; each one waits until the test settles it. */
function createRecorder() {
  const batches: { queries: readonly string[]; resolve(): void; fail(error: Error): void }[] = [];
  const load = (queries: readonly string[]) =>
    new Promise<string[]>((resolve, reject) => {
      batches.push({
        queries,
        resolve: () => {
          resolve(queries.map((query) => `${query}!`));
        },
        fail: reject,
      });
    });
  return { batches, load };
}

const toKey = (query: string) => query;

test('loads the queries of one event-loop turn in one batch, and equal queries once', async () => {
  const { batches, load } = createRecorder();
  const get = createBatcher({ toKey, load, maxBatch: 10, maxInFlight: 2 });
  const results = Promise.all([get('a'), get('b'), get('a')]);
  await nextTurn();
  expect(batches.map(({ queries }) => queries)).toEqual([['a', 'b']]);
  batches[0]?.resolve();
  expect(await results).toEqual(['a!', 'b!', 'a!']);
});

test('never answers a query from a batch that was sent before the query arrived', async () => {
  const { batches, load } = createRecorder();
  const get = createBatcher({ toKey, load, maxBatch: 10, maxInFlight: 2 });
  const first = get('a');
  await nextTurn();
  const second = get('a');
  await nextTurn();
  expect(batches).toHaveLength(2);
  batches[0]?.resolve();
  expect(await first).toBe('a!');
  let isResolved = false;
  void second.then(() => (isResolved = true));
  await nextTurn();
  expect(isResolved).toBe(false);
  batches[1]?.resolve();
  expect(await second).toBe('a!');
});

test('sends at most maxInFlight batches at once, each of at most maxBatch queries', async () => {
  const { batches, load } = createRecorder();
  const get = createBatcher({ toKey, load, maxBatch: 2, maxInFlight: 1 });
  const results = ['a', 'b', 'c', 'd', 'e'].map(get);
  await nextTurn();
  expect(batches.map(({ queries }) => queries)).toEqual([['a', 'b']]);
  for (let sent = 1; sent <= 3; sent += 1) {
    batches.at(-1)?.resolve();
    await nextTurn();
  }
  expect(batches.map(({ queries }) => queries)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  expect(await Promise.all(results)).toEqual(['a!', 'b!', 'c!', 'd!', 'e!']);
});

test('collects queries while a batch is in flight, until it settles or maxWaitMs passes', async () => {
  const { batches, load } = createRecorder();
  const get = createBatcher({ toKey, load, maxBatch: 10, maxInFlight: 2, maxWaitMs: 200 });
  const first = get('a');
  await nextTurn();
  const others = [get('b')];
  await nextTurn();
  others.push(get('c'));
  expect(batches).toHaveLength(1);
  batches[0]?.resolve();
  expect(await first).toBe('a!');
  expect(batches.map(({ queries }) => queries)).toEqual([['a'], ['b', 'c']]);
  const last = get('d');
  while (batches.length < 3) await nextTurn();
  batches.forEach(({ resolve }) => {
    resolve();
  });
  expect(await Promise.all([...others, last])).toEqual(['b!', 'c!', 'd!']);
});

test('rejects the queries that wait behind a failed batch, and loads later ones again', async () => {
  const { batches, load } = createRecorder();
  const get = createBatcher({ toKey, load, maxBatch: 1, maxInFlight: 1 });
  const settled = Promise.allSettled(['a', 'b', 'c'].map(get));
  await nextTurn();
  batches[0]?.fail(new Error('away'));
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  const later = get('d');
  await nextTurn();
  batches.at(-1)?.resolve();
  expect(await later).toBe('d!');
});

test('does not reject collected queries when a batch fails while another may still be sent', async () => {
  const { batches, load } = createRecorder();
  const get = createBatcher({ toKey, load, maxBatch: 10, maxInFlight: 2, maxWaitMs: 60_000 });
  const first = get('a');
  await nextTurn();
  const second = get('b');
  batches[0]?.fail(new Error('cut off'));
  await expect(first).rejects.toThrow('cut off');
  batches[1]?.resolve();
  expect(await second).toBe('b!');
});

test('gives the next collection its full maxWaitMs after a batch ended the previous one', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const turn = () => new Promise(setImmediate);
  try {
    const { batches, load } = createRecorder();
    const get = createBatcher({ toKey, load, maxBatch: 10, maxInFlight: 2, maxWaitMs: 100 });
    void get('a');
    await turn();
    void get('b');
    mock.timers.tick(60);
    batches[0]?.resolve();
    await turn();
    void get('c');
    mock.timers.tick(60);
    expect(batches.map(({ queries }) => queries)).toEqual([['a'], ['b']]);
    mock.timers.tick(40);
    expect(batches.map(({ queries }) => queries)).toEqual([['a'], ['b'], ['c']]);
  } finally {
    mock.timers.reset();
  }
});
