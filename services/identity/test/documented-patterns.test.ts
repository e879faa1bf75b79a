import { type DocumentedRequest, findDisagreements, openDocument } from '@platform/testing';
import { startIdentity } from './identity.js';

/* The patterns of the document are what the service checks: generated clients refuse nothing that it would take (API-16). */

const identity = await startIdentity();
const session = await identity.login();
const document = openDocument((await identity.call('GET', '/docs/json')).body);
afterAll(() => identity.close());

const send = (request: DocumentedRequest) => document.send(identity.url, request, { token: session });

const application = (redirectUri: string): DocumentedRequest => ({
  operationId: 'createOAuthApplication',
  body: {
    name: 'Desk agent',
    grantTypes: ['authorization_code'],
    authMethod: 'none',
    scopes: ['kb:read'],
    redirectUris: [redirectUri],
  },
});

test.each<DocumentedRequest>([
  { operationId: 'createToken', body: { name: 'laptop', description: 'for tests' } },
  { operationId: 'createGroup', body: { name: 'Legal' } },
  { operationId: 'createServiceAccount', body: { name: 'Worker', role: 'member' } },
  {
    operationId: 'createDestination',
    body: { form: 'webhook', url: 'https://93.184.216.34/hook', description: 'Our collector' },
    kept: ['form', 'url'],
  },
])('the document refuses exactly what $operationId refuses for its content', async (request) => {
  expect([(await send(request)).status, document.allows(request)]).toEqual([201, true]);
  expect(await findDisagreements(document, [request], send)).toEqual([]);
}); // oxfmt-ignore

test('the document refuses exactly the URLs of destinations that the service refuses', async () => {
  const urls = ['https://a.example/@me', 'HTTPS://A.example', 'https://a.example?x=@', 'https://me@a.example/', 'https://a.example/#x', 'https://a.example\\b', 'https:a.example', 'https://bücher.example/ü', 'https://a.example/a b', 'ftp://a.example'];
  const requests = urls.map((url) => ({ operationId: 'createDestination', body: { form: 'webhook', url }, changed: [] }));
  expect(await findDisagreements(document, requests, send)).toEqual([]);
}); // oxfmt-ignore

const hosts = [
  'app.example',
  'App.Example',
  'a-b.example',
  'a_b.example',
  '3com.example',
  'example.com.',
  'xn--bcher-kva.example',
  '10.0.0.5',
  '[2001:db8::1]',
  'localhost',
  'bücher.example',
  '1.2.3.999',
  '-',
  'a b',
  'user@app.example',
  '',
];
const ports = ['', ':1', ':8443', ':59999', ':65535', ':65536', ':x'];
const paths = [
  '',
  '/',
  '/cb',
  '/CB?x=1&y=%20',
  '?x',
  '/a\\b',
  '/cb#x',
  '#',
  '/ü',
  '/a b',
  `/${'x'.repeat(2_000)}`,
];
const whole = ['cursor://anysphere.cursor-mcp/oauth/callback', 'cursor://anysphere_cursor-mcp/oauth/callback', 'javascript:alert(1)', '/cb', 'https:app.example', 'http://127.0.0.1/cb', 'http://[::1]:1/cb', 'http://localhost:8787/callback', 'http://app.example/cb', 'HTTPS://app.example/cb', 'http://127.0.0.1@app.example/', 'http://127.0.0.1.app.example/']; // oxfmt-ignore

test('the document refuses exactly the redirect URIs that the service refuses', async () => {
  const uris = [
    ...whole,
    ...hosts.map((host) => `https://${host}/cb`),
    ...ports.map((port) => `https://app.example${port}/cb`),
    ...paths.map((path) => `https://app.example${path}`),
  ];
  const requests = uris.map((uri) => ({ ...application(uri), changed: [] }));
  expect(await findDisagreements(document, requests, send)).toEqual([]);
  const accepted = uris.filter((uri) => document.allows(application(uri)));
  expect(accepted).toEqual(expect.arrayContaining(['https://App.Example/cb', 'https://10.0.0.5/cb', 'https://app.example:65535/cb', whole[0]]));
}); // oxfmt-ignore
