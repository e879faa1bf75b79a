import { readRanges } from './ranges.ts';

test.each([
  ['', []],
  ['203.0.113.0/24', ['203.0.113.0/24']],
  [' 203.0.113.0/24,\n2001:db8::/32  ::1 ', ['203.0.113.0/24', '2001:db8::/32', '::1']],
])('reads the ranges of %j', (typed, ranges) => {
  expect(readRanges(typed)).toEqual(ranges);
});
