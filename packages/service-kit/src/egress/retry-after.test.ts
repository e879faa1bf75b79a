import { readRetryAfter } from './retry-after.js';

const now = Date.parse('2026-11-22T10:00:00Z');

test.each([
  [undefined, undefined],
  ['0', 0],
  ['120', 120_000],
  ['999999999', 999_999_999_000],
  ['Sun, 22 Nov 2026 10:00:30 GMT', 30_000],
  ['Sun, 22 Nov 2026 09:00:00 GMT', 0],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['', undefined],
  ['tomorrow', undefined],
  ['2026-11-22', undefined],
  ['Sun, 99 Nov 2026 10:00:30 GMT', undefined],
])('reads Retry-After %p as %p ms', (header, wanted) => {
  expect(readRetryAfter(header, now)).toBe(wanted);
});
