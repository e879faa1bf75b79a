import { createPermits, type Permits } from './permits.js';

/** @returns how many permits a key can acquire before it is refused. */
function fill(permits: Permits, key: string): number {
  let count = 0;
  while (permits.tryAcquire(key)) count += 1;
  return count;
}

test('the total and the share of a key are limits, and what is released can be acquired again', () => {
  const permits = createPermits({ total: 5, perKey: 3 });
  expect(['a', 'b', 'c'].map((key) => fill(permits, key))).toEqual([3, 2, 0]);
  permits.release('a', 2);
  expect([permits.tryAcquire('c', 3), permits.tryAcquire('c', 2)]).toEqual([false, true]);
});

test('every key that acquires all it can leaves room for the next one, when permits are fair', () => {
  const permits = createPermits({ total: 500, isFair: true });
  expect(['a', 'b', 'c', 'd', 'e', 'f'].map((key) => fill(permits, key))).toEqual([250, 125, 63, 31, 16, 8]);
});

test('a key cannot exceed its own limit where permits are fair', () => {
  const permits = createPermits({ total: 500, perKey: 200, isFair: true });
  expect(fill(permits, 'a')).toBe(200);
  expect(fill(permits, 'b')).toBe(150);
  permits.release('a', 50);
  expect(fill(permits, 'a')).toBe(25);
});

test('one large amount may use everything when nothing else is held', () => {
  const permits = createPermits({ total: 10, isFair: true });
  expect([permits.tryAcquire('a', 10), permits.tryAcquire('b')]).toEqual([true, false]);
  permits.release('a', 10);
  expect(permits.tryAcquire('b', 10)).toBe(true);
});

test('work holds a permit until it has ended, whether or not it fails', async () => {
  const permits = createPermits({ total: 1 });
  const work = permits.run(
    'a',
    async () => {
      const refuse = () => new Error('refused');
      await expect(permits.run('b', () => Promise.resolve(), refuse)).rejects.toThrow('refused');
      throw new Error('failed');
    },
    () => new Error('refused'),
  );
  await expect(work).rejects.toThrow('failed');
  expect(permits.tryAcquire('b')).toBe(true);
});
