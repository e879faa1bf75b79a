import { createShares } from './shares.js';

const limits = { places: 9, maxWaiting: 10, waitMs: 60_000 };

const nextTurn = () => new Promise(setImmediate);

/** Counts, by key, who is at work; each goes on until it is let go. */
function createCrowd(turn: ReturnType<typeof createShares>) {
  const working: { key: string; end: () => void }[] = [];
  const order: string[] = [];
  return {
    order,
    come: (key: string, count: number) =>
      Array.from({ length: count }, () =>
        turn(key, () => {
          order.push(key);
          return new Promise<void>((end) => void working.push({ key, end }));
        }),
      ),
    count: (key: string) => working.filter((one) => one.key === key).length,
    async letGo(key: string) {
      const index = working.findIndex((one) => one.key === key);
      for (const { end } of working.splice(index, 1)) end();
      await nextTurn();
    },
    /** Until nobody waits. */
    async letAllGo() {
      while (working.length > 0) {
        for (const { end } of working.splice(0)) end();
        await nextTurn();
      }
    },
  };
}

it('alone one gets half, and of those who hold all that they can each leaves the next a place', async () => {
  const crowd = createCrowd(createShares(limits));
  for (const key of ['a', 'b', 'c', 'd']) void crowd.come(key, 10);
  await nextTurn();
  expect(['a', 'b', 'c', 'd'].map(crowd.count)).toEqual([5, 2, 1, 1]);
  await crowd.letAllGo();
  expect(crowd.order).toHaveLength(40);
});

it('who waits is served in turn, one of each key, and nobody overtakes those of its own key', async () => {
  const crowd = createCrowd(createShares({ ...limits, places: 1 }));
  void crowd.come('a', 4);
  void crowd.come('b', 2);
  void crowd.come('c', 1);
  while (crowd.order.length < 7) await crowd.letGo(crowd.order.at(-1) ?? '');
  expect(crowd.order).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
});

it('every place that may be taken is taken as soon as one is given back', async () => {
  const crowd = createCrowd(createShares(limits));
  void crowd.come('a', 10);
  void crowd.come('b', 10);
  for (const key of ['b', 'b', 'a', 'a', 'a']) await crowd.letGo(key);
  const counts = ['a', 'b'].map(crowd.count);
  const free = limits.places - counts.reduce((sum, count) => sum + count, 0);
  for (const count of counts) expect(count).toBeGreaterThanOrEqual(free);
  await crowd.letAllGo();
});

it('over its bound one is refused; a failure gives its place on; who waited too long takes none', async () => {
  const refused = { statusCode: 503, headers: { 'retry-after': '1' } };
  const turn = createShares({ places: 1, maxWaiting: 1, waitMs: 10 });
  const fail: (() => void)[] = [];
  const failing = turn('a', () => new Promise((_resolve, reject) => void fail.push(() => { reject(new Error('bad')); }))); // prettier-ignore
  const late = turn('a', () => Promise.resolve());
  await expect(turn('a', () => Promise.resolve())).rejects.toMatchObject(refused);
  await expect(late).rejects.toMatchObject(refused);
  fail.forEach((now) => { now(); }); // prettier-ignore
  await expect(failing).rejects.toThrow('bad');
  await expect(turn('a', () => Promise.resolve('free'))).resolves.toBe('free');
});
