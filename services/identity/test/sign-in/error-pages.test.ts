import { startIdentity } from '../identity.js';
import { createAuthorization } from '../oauth/flow.js';

const identity = await startIdentity({ environment: { SIGN_IN_PER_ADDRESS: '1000' } });
afterAll(() => identity.close());

const open = (path: string, accept = 'text/html,*/*;q=0.8') =>
  fetch(identity.url + path.replace(identity.url, ''), { headers: { accept }, redirect: 'manual' });

const unknownClient = createAuthorization('0190a0b0-0000-7000-8000-000000000000').url;
const tooMany = `/oauth2/authorize?${Array.from({ length: 40 }, (_value, index) => `p${index}=x`).join('&')}`;

test.each([
  ['an unknown application', unknownClient, 400, 'not known to this platform'],
  ['a request with too many parameters', tooMany, 400, 'cannot be answered'],
  ['an authorization that has expired', '/oauth2/authorize/gone', 400, 'cannot be answered'],
  ['an unknown page of the sign-in', '/sign-in/nope', 404, 'gone'],
  ['a page of the sign-in without its visit', '/sign-in/consent/nope', 404, 'gone'],
])(
  'UI-17 %s is a page that says who can mend it, with the request id',
  async (_name, path, status, words) => {
    const response = await open(path);
    const page = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([
      status,
      'text/html; charset=utf-8',
    ]);
    expect(page).toContain(words);
    expect(page).toContain(`<code class="copied">${response.headers.get('x-request-id')}</code>`);
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(page).not.toContain('<script');
  },
);

test('UI-17 a program gets text or JSON, as before', async () => {
  const authorize = await open(unknownClient, '*/*');
  expect(authorize.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  for (const [path, accept] of [
    ['/sign-in/nope', '*/*'],
    [tooMany, 'application/json'],
    ['/api/v1/nope', 'text/html'],
    ['/mcp/nope', 'text/html'],
    ['/.well-known/nope', 'text/html'],
  ] as const)
    expect([path, (await open(path, accept)).headers.get('content-type')]).toEqual([
      path,
      'application/json; charset=utf-8',
    ]);
});
