import { parseUrl } from './parse-url.js';

test('a URL with letters outside ASCII is parsed, however often', () => {
  // Node 20 optimises after some thousand calls.
  const hosts = Array.from({ length: 20_000 }, () => parseUrl('HTTPS://b\u00FCcher.example')?.host);
  expect(new Set(hosts)).toEqual(new Set(['xn--bcher-kva.example']));
});

test.each(['', 'https://', 'https://a b', '/path'])('%j is no URL', (text) => {
  expect(parseUrl(text)).toBeUndefined();
});

test('a path is a URL relative to a base', () => {
  expect(parseUrl('/b?c', 'https://a.example/x')?.href).toBe('https://a.example/b?c');
});
