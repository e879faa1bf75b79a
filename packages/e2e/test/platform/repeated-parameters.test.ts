import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callUrl, testPlatform } from '@platform/testing';

/*
 * A parameter that is given twice (HTTP parameter pollution): one parser takes the first value, another one the last. The
 * gateway forwards the target as it came, so the services have to refuse it.
 */

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: { readonly type?: string };
}

const root = join(import.meta.dirname, '../../../..');
const cases = ['identity', 'mail', 'crawl'].flatMap((service) => {
  const { paths } = JSON.parse(readFileSync(join(root, 'services', service, 'openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, { operationId: string; parameters?: Parameter[] }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, parameters = [] }]) =>
      parameters
        .filter((parameter) => parameter.in === 'query' && parameter.schema.type !== 'array')
        .map(({ name }) => ({ operationId, name, method: method.toUpperCase(), path })),
    ),
  );
});

const platform = await testPlatform();
const { admin } = await platform.organisation();
const { accessToken: token } = (await callUrl(`${platform.url}/api/v1/auth/login`, 'POST', { body: admin }))
  .body as { accessToken: string };

const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';
const fill = (path: string): string =>
  path
    .replace('{connector}', 'nothing_1')
    .replace('{kind}', 'token')
    .replaceAll(/\{\w+\}/g, UNKNOWN_ID);

test('OPS-56: there are such parameters', () => expect(cases.length).toBeGreaterThan(100));

test.each(cases)('OPS-56: $operationId refuses $name given twice', async ({ name, method, path }) => {
  const target = `${platform.url}${fill(path)}?${name}=1&${name}=1`;
  // Bodies are looked at before queries.
  const present = method === 'PUT' && (await callUrl(platform.url + path, 'GET', { token })).body.policy;
  const { status, body } = await callUrl(target, method, { token, ...(present && { body: present }) });
  expect([status, JSON.stringify(body.error?.details)]).toEqual([
    400,
    expect.stringMatching(new RegExp(`"${name}[":]`)),
  ]);
});

test('OPS-56: a form with a field twice is refused', async () => {
  const once = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'a' });
  const twice = new URLSearchParams(`${once.toString()}&client_id=b`);
  const response = await fetch(`${platform.url}/oauth2/token`, { method: 'POST', body: twice });
  expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_request' }]);
  expect((await fetch(`${platform.url}/oauth2/token`, { method: 'POST', body: once })).status).toBe(401);
});
