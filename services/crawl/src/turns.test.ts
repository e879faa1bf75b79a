import { createTurns } from './turns.js';

const refused = { statusCode: 503, headers: { 'retry-after': '1' } };

function later() {
  let done = () => {};
  const end = new Promise<void>((resolve) => (done = resolve));
  return { end, done: () => { done(); } }; // prettier-ignore
}

it('those of one key come one after the other, in order; another key does not wait', async () => {
  const turn = createTurns({ maxWaiting: 10, waitMs: 60_000 });
  const first = later();
  const order: string[] = [];
  const note = (name: string) => () => Promise.resolve(void order.push(name));
  const all = [turn('a', () => first.end.then(note('a1'))), turn('a', note('a2')), turn('a', note('a3'))];
  await turn('b', note('b'));
  first.done();
  await Promise.all(all);
  expect(order).toEqual(['b', 'a1', 'a2', 'a3']);
});

it('over its bound one is refused at once, with a time to come again; a failure gives the turn on', async () => {
  const turn = createTurns({ maxWaiting: 1, waitMs: 60_000 });
  const first = later();
  const failing = turn('a', () => first.end.then(() => Promise.reject(new Error('bad'))));
  const second = turn('a', () => Promise.resolve('second'));
  await expect(turn('a', () => Promise.resolve())).rejects.toMatchObject(refused);
  first.done();
  await expect(failing).rejects.toThrow('bad');
  await expect(second).resolves.toBe('second');
  await expect(turn('a', () => Promise.resolve('later'))).resolves.toBe('later');
});

it('who has waited long enough is refused, and takes no turn any more', async () => {
  const turn = createTurns({ maxWaiting: 5, waitMs: 10 });
  const first = later();
  const held = turn('a', () => first.end);
  let hasRun = false;
  await expect(turn('a', () => Promise.resolve((hasRun = true)))).rejects.toMatchObject(refused);
  first.done();
  await held;
  await expect(turn('a', () => Promise.resolve('free'))).resolves.toBe('free');
  expect(hasRun).toBe(false);
});
