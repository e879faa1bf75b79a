import type { Answer } from '@platform/testing';
import { admin, type IdentityUnderTest, serviceClient, startIdentity } from '../identity.js';
import { callWith, expectCleanLog, expectRefusal, listRoutes, type Route } from './routes.js';

let identity: IdentityUnderTest;
let routes: Route[];
let session: string;
let serviceToken: string;

beforeAll(async () => {
  identity = await startIdentity();
  session = await identity.login();
  routes = await listRoutes(identity);
  serviceToken = await issueServiceToken();
});
afterAll(() => identity.close());

const basic = `Basic ${Buffer.from(`${serviceClient.id}:${serviceClient.secret}`).toString('base64')}`;

async function issueServiceToken(): Promise<string> {
  const { body } = await identity.call('POST', '/api/v1/oauth2/token', {
    raw: 'grant_type=client_credentials',
    headers: { authorization: basic, 'content-type': 'application/x-www-form-urlencoded' },
  });
  return body.access_token as string;
}

/** Returns a credential that the route accepts, so that only the input can be rejected. */
const credentialFor = ({ path }: Route): string =>
  path.endsWith('/oauth2/token')
    ? basic
    : `Bearer ${/^\/api\/v1\/(?:oauth2|internal)\//.test(path) ? serviceToken : session}`;

const send = (route: Route, raw: string, headers: Record<string, string> = {}): Promise<Answer> =>
  callWith(identity, route, { raw, headers: { authorization: credentialFor(route), ...headers } });

const withBody = () => routes.filter(({ hasBody }) => hasBody);
const NESTED = 10_000;

const faults: { what: string; raw: string; statuses: number[]; headers?: Record<string, string> }[] = [
  { what: 'over the limit', raw: JSON.stringify({ name: 'x'.repeat(1_100_000) }), statuses: [413] },
  { what: 'of another type', raw: '<name>x</name>', statuses: [415], headers: { 'content-type': 'application/xml' } },
  { what: 'of no type', raw: 'name=x', statuses: [415], headers: { 'content-type': '' } },
  { what: 'of plain text', raw: '{}', statuses: [415], headers: { 'content-type': 'text/plain' } },
  { what: 'that is compressed', raw: '{}', statuses: [415], headers: { 'content-encoding': 'gzip' } },
  { what: 'that breaks off', raw: '{"name": ', statuses: [400] },
  { what: 'that is no JSON', raw: 'NaN', statuses: [400] },
  { what: 'of 10,000 arrays', raw: '['.repeat(NESTED) + ']'.repeat(NESTED), statuses: [400] },
  { what: 'of 10,000 objects', raw: '{"name":'.repeat(7_000) + '1' + '}'.repeat(7_000), statuses: [400] },
  { what: 'with a prototype key', raw: '{"__proto__": {"role": "admin"}, "name": "x"}', statuses: [400] },
  { what: 'with a constructor key', raw: '{"constructor": {"prototype": {"role": "admin"}}, "name": "x"}', statuses: [400] },
  { what: 'with more than 10,000 values', raw: `{"scopes": [${'1,'.repeat(10_000)}1]}`, statuses: [400] },
  { what: 'with an unknown field', raw: '{"isAdmin": true}', statuses: [400] },
  { what: 'that is an array', raw: '[{"name": "x"}]', statuses: [400] },
  { what: 'that is null', raw: 'null', statuses: [400] },
  { what: 'that is a text', raw: '"name"', statuses: [400] },
  { what: 'that is a number', raw: '1e999', statuses: [400] },
  { what: 'of a wrong UTF-8', raw: '{"name": "\\ud800"}', statuses: [400] },
  { what: 'with NUL', raw: '{"name": "a\\u0000", "email": "a\\u0000@example.com", "password": "\\u0000", "reason": "\\u0000", "token": "\\u0000"}', statuses: [400] },
  { what: 'with a name of 10,000 characters', raw: JSON.stringify({ name: 'x'.repeat(10_000), fullName: 'x'.repeat(10_000), reason: 'x'.repeat(10_000), email: `${'x'.repeat(10_000)}@example.com`, password: 'x'.repeat(10_000), token: 'x'.repeat(10_000) }), statuses: [400] },
]; // prettier-ignore

test.each(faults)('every route with a body rejects a body $what', async ({ raw, statuses, headers }) => {
  const routesWithBody = withBody();
  expect(routesWithBody.length).toBeGreaterThan(6);
  const answers = await Promise.all(routesWithBody.map((route) => send(route, raw, headers)));
  for (const [index, answer] of answers.entries()) {
    const { method, path, isJson } = routesWithBody[index] as Route;
    const where = `${method} ${path}`;
    expectRefusal(answer, where);
    // A form endpoint and the tool endpoint refuse some of it for reasons of their own, and a token's own routes the session.
    const isOwn = !isJson || path.includes('/self');
    expect([where, isOwn ? [answer.status] : statuses]).toEqual([
      where,
      expect.arrayContaining([answer.status]),
    ]);
  }
});

test('stores nothing, logs no secret and keeps serving after all of it', async () => {
  const { rows } = await identity.db.query('select (select count(*) from users) users, (select count(*) from personal_access_tokens) tokens');
  expect(rows).toEqual([{ users: '1', tokens: '0' }]);
  expectCleanLog(identity, [session, serviceToken, basic.slice(6), admin.password, serviceClient.secret]);
  expect((await identity.call('GET', '/api/v1/users/me', { token: session })).status).toBe(200);
}); // prettier-ignore

test('names a prototype key in the error instead of reporting invalid JSON', async () => {
  const [route] = withBody().filter(({ isJson }) => isJson);
  for (const raw of ['{"__proto__": {"role": "admin"}}', '{"a": [{"constructor": {"prototype": 1}}]}']) {
    const { status, body } = await send(route as Route, raw);
    expect([status, body.error.details]).toEqual([
      400,
      [{ field: 'body', message: expect.stringContaining('must not have the key "__proto__"') }],
    ]);
  }
  const { body } = await send(route as Route, '{"a": ');
  expect(body.error.code).toBe('INVALID_JSON');
});
