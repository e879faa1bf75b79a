import { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '@platform/testing';
import { type CreatedToken, type IdentityUnderTest, startIdentity } from '../identity.js';

const path = '/api/v1/personal-access-tokens/leaked/github';
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** The example that GitHub publishes for its partners. */
const example = {
  id: 'f9525bf080f75b3506ca1ead061add62b8633a346606dc5fe544e29231c6ee0d',
  key: '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEsz9ugWDj5jK5ELBK42ynytbo38gP\nHzZFI03Exwz8Lh/tCfL3YxwMdLjB+bMznsanlhK0RwcGP3IDb34kQDIo3Q==\n-----END PUBLIC KEY-----\n',
  body: '[{"token":"some_token","type":"some_type","url":"some_url","source":"some_source"}]',
  signature:
    'MEUCIFLZzeK++IhS+y276SRk2Pe5LfDrfvTXu6iwKKcFGCrvAiEAhHN2kDOhy2I6eGkOFmxNkOJ+L2y8oQ9A2T9GGJo6WJY=',
};
const ours = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const keys = {
  public_keys: [
    { key_identifier: example.id, key: example.key, is_current: false },
    { key_identifier: 'ours', key: ours, is_current: true },
  ],
};

let identity: IdentityUnderTest;
let session: string;

beforeAll(async () => {
  identity = await startIdentity({
    environment: {
      SECRET_SCANNING_KEYS: JSON.stringify(keys),
      TOKEN_PREFIX: 'acme_',
      TRUST_PROXY: '127.0.0.1',
    },
  });
  session = await identity.login();
});
afterAll(() => identity.close());

let reporters = 0;
async function send(body: string, headers: Record<string, string>) {
  const response = await fetch(identity.url + path, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': `203.0.113.${(reporters += 1)}`,
      ...headers,
    },
  });
  return { status: response.status, body: await response.json() };
}
const toHeaders = (body: string, id = 'ours') => ({
  'github-public-key-identifier': id,
  'github-public-key-signature': sign('sha256', Buffer.from(body), pair.privateKey).toString('base64'),
});
const getStatus = async ({ accessToken: token }: CreatedToken) =>
  (await identity.call('GET', '/api/v1/users/me', { token })).status;
const make = () => identity.createToken(session, { scopes: ['user:read'] });

test("accepts GitHub's published example, and not with one more byte", async () => {
  const headers = {
    'github-public-key-identifier': example.id,
    'github-public-key-signature': example.signature,
  };
  expect(await send(example.body, headers)).toEqual({
    status: 200,
    body: [{ token_raw: 'some_token', token_type: 'some_type', label: 'false_positive' }],
  });
  expect((await send(`${example.body} `, headers)).status).toBe(401);
});

test('a signed report revokes the tokens in it, and says which are some', async () => {
  const [token, other] = [await make(), await make()];
  const forged = `${other.accessToken.slice(0, -20)}${'A'.repeat(20)}`;
  const long = `pat_eyJ${'a'.repeat(5_000)}`;
  const matches = [long, token.accessToken, forged].map((value) => ({
    token: value,
    type: 'acme_token',
    url: 'https://github.com/acme/x/blob/main/.env',
    source: 'content',
  }));
  const body = JSON.stringify(matches, undefined, 1);
  expect(await send(body, toHeaders(body))).toEqual({
    status: 200,
    body: [
      { token_raw: long, token_type: 'acme_token', label: 'false_positive' },
      { token_raw: token.accessToken, token_type: 'acme_token', label: 'true_positive' },
      { token_raw: forged, token_type: 'acme_token', label: 'false_positive' },
    ],
  });
  await waitFor(async () => (await getStatus(token)) === 401, { what: 'the revocation' });
  expect(await getStatus(other)).toBe(200);
  expect(identity.logged()).not.toContain(token.accessToken);
});

test('rejects a body that is not signed with a known key, and a signed body that is no report', async () => {
  const token = await make();
  const body = JSON.stringify([{ token: token.accessToken, type: 't', url: '', source: 'content' }]);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const stranger = sign('sha256', Buffer.from(body), privateKey).toString('base64');
  for (const headers of [
    {},
    { 'github-public-key-identifier': 'ours' },
    toHeaders(body, 'unknown'),
    toHeaders(`${body} `),
    { ...toHeaders(body), 'github-public-key-signature': stranger },
    { ...toHeaders(body), 'github-public-key-signature': 'garbage' },
  ]) {
    const refused = await send(body, headers);
    expect([headers, refused.status]).toEqual([headers, 401]);
  }
  for (const wrong of ['{}', '[]', '[', '[{"token":1,"type":"t"}]', '[{"type":"t"}]'])
    expect([wrong, (await send(wrong, toHeaders(wrong))).status]).toEqual([wrong, 400]);
  expect(await getStatus(token)).toBe(200);
});

test('wrong signatures of a network are limited, and right ones are not', async () => {
  const body = '[{"token":"x","type":"t"}]';
  const network = { 'x-forwarded-for': '198.51.100.1' };
  for (let count = 0; count < 62; count += 1)
    expect((await send(body, { ...toHeaders(body), ...network })).status).toBe(200);
  const wrong = { ...toHeaders('x'), ...network };
  for (let count = 0; count < 60; count += 1) expect((await send(body, wrong)).status).toBe(401);
  expect((await send(body, wrong)).status).toBe(429);
});

test('responds with 404 without keys, and does not start with invalid ones', async () => {
  const off = await startIdentity();
  try {
    expect((await off.call('POST', path, { body: [] })).status).toBe(404);
  } finally {
    await off.close();
  }
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({
    type: 'spki',
    format: 'pem',
  });
  for (const [name, value] of [
    ['SECRET_SCANNING_KEYS', '{}'],
    ['SECRET_SCANNING_KEYS', JSON.stringify({ public_keys: [{ key_identifier: 'a', key: p384 }] })],
    ['TOKEN_PREFIX', 'Acme_'],
    ['TOKEN_PREFIX', 'acme'],
  ] as const)
    await expect(startIdentity({ environment: { [name]: value } })).rejects.toThrow(name);
});

/** CRC-32 bit by bit, apart from the implementation. */
function crc32(text: string): number {
  let crc = 0xff_ff_ff_ff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xed_b8_83_20 : 0);
  }
  return (crc ^ 0xff_ff_ff_ff) >>> 0;
}

test('a token has the prefix and the documented form, its checksum is right, and any prefix and none are accepted', async () => {
  const { accessToken } = await make();
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/connect/secret-scanning.md'), 'utf8');
  const documented = /^pat_eyJ.*$/m.exec(page)?.[0] ?? '';
  expect(accessToken).toMatch(new RegExp(`^${documented.replace('pat_', 'acme_')}$`));
  const [body = '', checksum = ''] = accessToken.split(/_(?=[^_]*$)/);
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const toValue = (text: string) =>
    text.split('').reduce((value, digit) => value * 62 + digits.indexOf(digit), 0);
  const jwt = body.slice('acme_'.length);
  expect(toValue(checksum)).toBe(crc32(jwt));
  for (const token of [jwt, `pat_${jwt}`, `other_${jwt}`, `pat_${jwt}_${checksum}`, `${jwt}_${checksum}`])
    expect((await identity.call('GET', '/api/v1/users/me', { token })).status).toBe(200);
  for (const token of [`pat_pat_${jwt}`, `-${jwt}`, `${accessToken}_000000`, `pat_${jwt}_000000`])
    expect((await identity.call('GET', '/api/v1/users/me', { token })).status).toBe(401);
});
