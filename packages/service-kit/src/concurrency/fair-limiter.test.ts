import { createFairLimiter } from './fair-limiter.js';

const message = 'Too many mails are under way';

/** @returns how many units an owner can acquire before it is refused. */
function fill(shares: ReturnType<typeof createFairLimiter>, owner: string): number {
  for (let count = 0; ; count += 1) {
    try {
      shares.acquire(owner, 1);
    } catch {
      return count;
    }
  }
}

test('a refusal is a 429 error with a Retry-After header', () => {
  const shares = createFairLimiter({ capacity: 1, message });
  fill(shares, 'a');
  expect(() => {
    shares.acquire('b', 1);
  }).toThrow(expect.objectContaining({ statusCode: 429, message, headers: { 'retry-after': '1' } }));
});

test('every owner that acquires all it can leaves room for the next one', () => {
  const shares = createFairLimiter({ capacity: 500, message });
  expect(['a', 'b', 'c', 'd', 'e', 'f'].map((owner) => fill(shares, owner))).toEqual([
    250, 125, 63, 31, 16, 8,
  ]);
});

test('an owner cannot exceed its own limit, and can acquire again what it has released', () => {
  const shares = createFairLimiter({ capacity: 500, maxPerOwner: 200, message });
  expect(fill(shares, 'a')).toBe(200);
  expect(fill(shares, 'b')).toBe(150);
  shares.release('a', 50);
  expect(fill(shares, 'a')).toBe(25);
});

test('one large amount may use the whole capacity when nothing else is held', () => {
  const shares = createFairLimiter({ capacity: 10, message });
  shares.acquire('a', 10);
  expect(() => {
    shares.acquire('b', 1);
  }).toThrow(message);
  shares.release('a', 10);
  shares.acquire('b', 10);
});
