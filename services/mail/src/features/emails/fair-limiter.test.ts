import { createFairLimiter } from './fair-limiter.js';

const message = 'Too many mails are under way';
/** @returns how many an owner gets before it is refused. */
function fill(shares: ReturnType<typeof createFairLimiter>, owner: string): number {
  for (let count = 0; ; count += 1) {
    try {
      shares.acquire(owner, 1);
    } catch {
      return count;
    }
  }
}

test('a refusal is 429, and says when to try again', () => {
  const shares = createFairLimiter({ capacity: 1, message });
  fill(shares, 'a');
  expect(() => {
    shares.acquire('b', 1);
  }).toThrow(expect.objectContaining({ statusCode: 429, message, headers: { 'retry-after': '1' } }));
});

test('an owner that takes all it can leaves room for others, and they for the next', () => {
  const shares = createFairLimiter({ capacity: 500, message });
  expect(['a', 'b', 'c', 'd', 'e', 'f'].map((owner) => fill(shares, owner))).toEqual([
    250, 125, 63, 31, 16, 8,
  ]);
});

test('an owner has no more than its own bound, and gets back what it gives back', () => {
  const shares = createFairLimiter({ capacity: 500, maxPerOwner: 200, message });
  expect(fill(shares, 'a')).toBe(200);
  expect(fill(shares, 'b')).toBe(150);
  shares.release('a', 50);
  expect(fill(shares, 'a')).toBe(25);
});

test('one large thing may take it all when nothing else is there', () => {
  const shares = createFairLimiter({ capacity: 10, message });
  shares.acquire('a', 10);
  expect(() => {
    shares.acquire('b', 1);
  }).toThrow(message);
  shares.release('a', 10);
  shares.acquire('b', 10);
});
