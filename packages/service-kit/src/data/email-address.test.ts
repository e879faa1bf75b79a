import { DOMAIN_PATTERN, EMAIL_ADDRESS_PATTERN, readDomain, readEmailAddress } from './email-address.js';

const documented = new RegExp(EMAIL_ADDRESS_PATTERN, 'u');

test.each([
  ['a@example.com', 'a@example.com'],
  ['first.last+tag@mail.example.com', 'first.last+tag@mail.example.com'],
  ["o'brien@example.com", "o'brien@example.com"],
  ['root@localhost', 'root@localhost'],
  ['info@bücher.example', 'info@xn--bcher-kva.example'],
  ['δοκιμή@example.com', 'δοκιμή@example.com'],
  ['A@EXAMPLE.COM', 'A@example.com'],
  ['a@1-2', 'a@1-2'],
  ['a@3com.example', 'a@3com.example'],
  ['a@_dmarc.x1', 'a@_dmarc.x1'],
])('accepts %s as an address', (text, address) => {
  expect(readEmailAddress(text)).toBe(address);
  expect(text).toMatch(documented);
});

// oxfmt-ignore
test.each([
  '', '@', 'a@', '@example.com', 'a', 'a b@example.com', 'a@b@example.com', '.a@example.com', 'a.@example.com',
  'a..b@example.com', 'a@-b.example', 'a@b-.example', 'a@example..com', 'a@.com', 'a@example.com.', '"a b"@example.com',
  'a@[127.0.0.1]', 'a@127.0.0.1', 'Ada <a@example.com>', 'a@example.com,b@example.com', 'a@example.com\r\nBcc: x@y.example',
  'a@exa\u0000mple.com', 'a\u202e@example.com', 'a@exam%70le.com', 'a@example.com/x', 'a@example.com:25',
  'a@b.1', 'a@1', 'a@b#.example', 'a@b?.example',
])('rejects %j as an address', (text) => {
  expect(readEmailAddress(text)).toBeUndefined();
  expect(text).not.toMatch(documented);
});

test.each([
  `${'a'.repeat(65)}@example.com`,
  `a@${'b'.repeat(64)}.com`,
  `a@${'b.'.repeat(127)}com`,
  `a@${'b'.repeat(1_000_000)}`,
  'a\ud800@example.com',
  'a\u200b@example.com',
  'a@b.0x1',
])('rejects an address for what the documented pattern does not say', (text) => {
  expect(readEmailAddress(text)).toBeUndefined();
});

test('reads a domain in its ASCII form', () => {
  expect(readDomain('Bücher.Example')).toBe('xn--bcher-kva.example');
  expect('Bücher.Example').toMatch(new RegExp(DOMAIN_PATTERN, 'u'));
  for (const text of ['', ' ', 'a b', 'a/b', 'a@b', '10.0.0.1', 'x\r\ny'])
    expect(readDomain(text)).toBeUndefined();
});
