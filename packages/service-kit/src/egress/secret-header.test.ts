import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fetch } from 'undici';
import { SECRET_HEADER_PATTERN } from './secret-header.js';

const pattern = new RegExp(SECRET_HEADER_PATTERN, 'u');

// oxfmt-ignore
const usual = [
  'authorization', 'x-api-key', 'api-key', 'dd-api-key', 'x-vault-token', 'x-goog-api-key', 'ocp-apim-subscription-key',
  'private-token', 'x-sumo-category', 'signature', 'x', 'a'.repeat(64),
];

test('a secret reaches the server in each of the usual headers', async () => {
  const server = createServer(({ headers }, response) => response.end(JSON.stringify(headers)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    for (const name of usual) {
      expect(name).toMatch(pattern);
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const answer = await fetch(url, { method: 'POST', body: '{}', headers: { [name]: 'a secret' } });
      expect(await answer.json()).toMatchObject({ [name]: 'a secret' });
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

// oxfmt-ignore
test.each([
  'connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade',
  'via', 'date', 'expect', 'host', 'content-length', 'content-type', 'accept', 'accept-encoding', 'accept-charset',
  'cookie', 'set-cookie', 'origin', 'referer', 'sec-fetch-mode', 'access-control-request-method', 'range', 'if-none-match',
  'mcp-session-id', 'last-event-id', 'webhook-signature', 'traceparent', 'user-agent', 'http2-settings',
  'Authorization', 'a b', 'x:y', 'ä', '', '-', 'a-', '-a', 'a'.repeat(65),
])('no secret is sent in the header %j', (name) => {
  expect(name).not.toMatch(pattern);
});
