import { readReturnTo, toSignInPath } from './paths.js';

// oxfmt-ignore
test.each([
  ['/tokens', '/tokens'],
  ['/tokens?page=2#top', '/tokens?page=2#top'],
  ['/oauth2/authorize?redirect_uri=https%3A%2F%2Fclient.example%2Fdone', '/oauth2/authorize?redirect_uri=https%3A%2F%2Fclient.example%2Fdone'],
  ['/a/../b', '/b'],
])('accepts the path %s', (given, path) => {
  expect(readReturnTo(given)).toBe(path);
});

// oxfmt-ignore
test.each([
  'https://evil.example/', '//evil.example', '///evil.example', '/\\evil.example', '\\\\evil.example', '/.//evil.example', '/x/..//evil.example', '/%2e//evil.example', '/.\\/evil.example', '/\t/evil.example', '/\n//evil.example', 'javascript:alert(1)', 'evil.example', '', ' /tokens', '/tokens\r\nset-cookie: a=b', '/tökens', undefined, null, 7, ['/a', '/b'],
])('replaces %j by the start page', (given) => {
  expect(readReturnTo(given)).toBe('/');
});

test('the sign-in page returns to the path unchanged', () => {
  const path = '/oauth2/auth?a=1&b=x%20y#z';
  const address = new URL(toSignInPath(path), 'https://own.example');
  expect(readReturnTo(address.searchParams.get('returnTo'))).toBe(path);
});
