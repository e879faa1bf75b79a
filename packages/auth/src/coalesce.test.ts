import { setTimeout as delay } from 'node:timers/promises';
import { coalesce } from './coalesce.js';

/** Records the batches; each waits until it is let go. */
function createRecorder() {
  const batches: { questions: readonly string[]; answer(): void; fail(error: Error): void }[] = [];
  const ask = (questions: readonly string[]) =>
    new Promise<string[]>((resolve, reject) => {
      batches.push({
        questions,
        answer: () => {
          resolve(questions.map((question) => `${question}!`));
        },
        fail: reject,
      });
    });
  return { batches, ask };
}

const toKey = (question: string) => question;
const nextTurn = () => delay(1);

test('the questions of one turn are asked in one batch, the same question once', async () => {
  const { batches, ask } = createRecorder();
  const question = coalesce({ toKey, ask, maxBatch: 10, maxInFlight: 2 });
  const answers = Promise.all([question('a'), question('b'), question('a')]);
  await nextTurn();
  expect(batches.map(({ questions }) => questions)).toEqual([['a', 'b']]);
  batches[0]?.answer();
  expect(await answers).toEqual(['a!', 'b!', 'a!']);
});

test('a question is never answered by a batch that was sent before it came', async () => {
  const { batches, ask } = createRecorder();
  const question = coalesce({ toKey, ask, maxBatch: 10, maxInFlight: 2 });
  const first = question('a');
  await nextTurn();
  const second = question('a');
  await nextTurn();
  expect(batches).toHaveLength(2);
  batches[0]?.answer();
  expect(await first).toBe('a!');
  let isAnswered = false;
  void second.then(() => (isAnswered = true));
  await nextTurn();
  expect(isAnswered).toBe(false);
  batches[1]?.answer();
  expect(await second).toBe('a!');
});

test('no more batches are under way than allowed; the next one gathers, and is bounded', async () => {
  const { batches, ask } = createRecorder();
  const question = coalesce({ toKey, ask, maxBatch: 2, maxInFlight: 1 });
  const answers = ['a', 'b', 'c', 'd', 'e'].map(question);
  await nextTurn();
  expect(batches.map(({ questions }) => questions)).toEqual([['a', 'b']]);
  for (let sent = 1; sent <= 3; sent += 1) {
    batches.at(-1)?.answer();
    await nextTurn();
  }
  expect(batches.map(({ questions }) => questions)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  expect(await Promise.all(answers)).toEqual(['a!', 'b!', 'c!', 'd!', 'e!']);
});

test('while a batch is under way the next one gathers until it is answered, or for a while', async () => {
  const { batches, ask } = createRecorder();
  const question = coalesce({ toKey, ask, maxBatch: 10, maxInFlight: 2, gatherMs: 200 });
  const first = question('a');
  await nextTurn();
  const others = [question('b')];
  await nextTurn();
  others.push(question('c'));
  expect(batches).toHaveLength(1);
  batches[0]?.answer();
  expect(await first).toBe('a!');
  expect(batches.map(({ questions }) => questions)).toEqual([['a'], ['b', 'c']]);
  const last = question('d');
  while (batches.length < 3) await nextTurn();
  batches.forEach(({ answer }) => {
    answer();
  });
  expect(await Promise.all([...others, last])).toEqual(['b!', 'c!', 'd!']);
});

test('when a batch fails, those that wait behind it fail with it, and the next question is asked anew', async () => {
  const { batches, ask } = createRecorder();
  const question = coalesce({ toKey, ask, maxBatch: 1, maxInFlight: 1 });
  const asked = Promise.allSettled(['a', 'b', 'c'].map(question));
  await nextTurn();
  batches[0]?.fail(new Error('away'));
  expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  const later = question('d');
  await nextTurn();
  batches.at(-1)?.answer();
  expect(await later).toBe('d!');
});

test('who only gathers, with a place free, does not fail with the batch before it', async () => {
  const { batches, ask } = createRecorder();
  const question = coalesce({ toKey, ask, maxBatch: 10, maxInFlight: 2, gatherMs: 60_000 });
  const first = question('a');
  await nextTurn();
  const second = question('b');
  batches[0]?.fail(new Error('cut off'));
  await expect(first).rejects.toThrow('cut off');
  batches[1]?.answer();
  expect(await second).toBe('b!');
});

test('an answer ends the gathering for good: the next one has all its time', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] });
  const turn = () => new Promise(setImmediate);
  try {
    const { batches, ask } = createRecorder();
    const question = coalesce({ toKey, ask, maxBatch: 10, maxInFlight: 2, gatherMs: 100 });
    void question('a');
    await turn();
    void question('b');
    jest.advanceTimersByTime(60);
    batches[0]?.answer();
    await turn();
    void question('c');
    jest.advanceTimersByTime(60);
    expect(batches.map(({ questions }) => questions)).toEqual([['a'], ['b']]);
    jest.advanceTimersByTime(40);
    expect(batches.map(({ questions }) => questions)).toEqual([['a'], ['b'], ['c']]);
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
