import { AppError } from '@platform/service-kit';
import { compileList, contains } from './compiled-list.js';
import { isNarrower, readAllowList, toComparable } from './ranges.js';

const toFields = (list: readonly string[]) => {
  try {
    return readAllowList(list);
  } catch (error) {
    if (error instanceof AppError) return error.details?.map(({ field }) => field);
    throw error;
  }
};

test('reads ranges and single addresses of both families, each once', () => {
  expect(
    readAllowList(['10.0.0.0/8', '203.0.113.7', '203.0.113.7/32', '2001:DB8:0:0::/32', '0.0.0.0/0', '::1']),
  ).toEqual(['10.0.0.0/8', '203.0.113.7/32', '2001:db8::/32', '0.0.0.0/0', '::1/128']);
});

// oxfmt-ignore
test.each([
  '', 'example.com', '10.0.0.1/8', '10.0.0.0/33', '10.0.0.0/', '10.0/8', '010.0.0.0/8', '0x0a.0.0.0/8', '2001:db8::/129',
  'fe80::1%eth0', '::ffff:10.0.0.0/104', '10.0.0.0/8/8', ' 10.0.0.0/8', '10.0.0.0/-1',
])('rejects %j', (text) => {
  expect(toFields(['10.0.0.0/8', text])).toEqual(['allowList.1']);
});

test('a list is narrower when each of its ranges lies within one of the current list', () => {
  expect(isNarrower(['10.1.0.0/16'], ['10.0.0.0/8', '::/0'])).toBe(true);
  expect(isNarrower(['10.0.0.0/8'], [])).toBe(true);
  expect(isNarrower(['10.0.0.0/7'], ['10.0.0.0/8'])).toBe(false);
  expect(isNarrower(['10.0.0.0/8', '11.0.0.0/8'], ['10.0.0.0/8'])).toBe(false);
  expect(isNarrower(['2001:db8::1'], ['0.0.0.0/0'])).toBe(false);
  expect(isNarrower([], ['10.0.0.0/8'])).toBe(false);
});

test.each([
  ['203.0.113.0/24', '203.0.113.255', true],
  ['203.0.113.0/24', '203.0.114.0', false],
  ['10.0.0.0/8 203.0.113.7', '203.0.113.7', true],
  ['10.0.0.0/8 203.0.113.7', '203.0.113.6', false],
  ['0.0.0.0/0', '255.255.255.255', true],
  ['0.0.0.0/0', '::1', false],
  ['128.0.0.0/1', '200.0.0.1', true],
  ['128.0.0.0/1', '127.255.255.255', false],
  ['2001:db8::/33', '2001:db8:7fff::1', true],
  ['2001:db8::/33', '2001:db8:8000::1', false],
  ['::/0', '2001:db8::1', true],
  ['2001:db8::1/128', '2001:db8::1', true],
  ['2001:db8::1/128', '2001:db8::2', false],
])('whether %s contains %s: %s', (list, address, isContained) => {
  expect(contains(compileList(list), address)).toBe(isContained);
  expect(contains(compileList(list), address)).toBe(isContained);
});

// oxfmt-ignore
test('an address is compared without its IPv4 mapping, and anything else is unknown', () => {
  const addresses = ['203.0.113.7', '::ffff:203.0.113.7', '2001:db8::1', 'fe80::1%eth0', 'unknown', '', '1.2.3.4:80', undefined];
  expect(addresses.map(toComparable)).toEqual(['203.0.113.7', '203.0.113.7', '2001:db8::1', null, null, null, null, null]);
});
