import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { formatToken, toChecksum } from './credential.js';
import type { KeySet } from './key-set.js';
import { createSignatureCheck } from './signature.js';

const pair = generateKeyPairSync('ed25519');
const pem = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const claims = { iss: 'i', sub: 'u', org: 'o', jti: 't', kind: 'pat', scope: 'a b', iat: 1 };
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function mint(payload: object = claims, header: object = { alg: 'EdDSA', kid: 'k' }): string {
  const input = `${encode(header)}.${encode(payload)}`;
  return `${input}.${sign(null, Buffer.from(input), pair.privateKey).toString('base64url')}`;
}

function createCheck() {
  let keys: ReadonlyMap<string, string> = new Map([['k', pem]]);
  let verifications = 0;
  let isStale = false;
  const keySet: KeySet = { current: () => keys, isStale: () => isStale };
  const check = createSignatureCheck(keySet, (token, key) => {
    verifications += 1;
    const [header = '', payload = '', signature = ''] = token.split('.');
    const isRight = verify(
      null,
      Buffer.from(`${header}.${payload}`),
      key,
      Buffer.from(signature, 'base64url'),
    );
    if (!isRight) throw new Error('wrong signature');
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as unknown;
  });
  return {
    check,
    count: () => verifications,
    setKeys: (next: ReadonlyMap<string, string>) => {
      keys = next;
    },
    setStale: (next: boolean) => {
      isStale = next;
    },
  };
}

test('checks a signature once per token, with and without the display prefix', () => {
  const { check, count } = createCheck();
  const token = mint();
  expect(check(token)?.scopes).toEqual(new Set(['a', 'b']));
  const shown = [`pat_${token}`, `acme1_${token}`, formatToken('pat_', token), formatToken('', token)];
  for (const presented of shown) expect(check(presented)).toBe(check(token));
  expect(count()).toBe(1);
  for (const prefix of ['pat', '_', 'Pat_', 'pat_pat_', 'a_', 'pat-x_', `${'a'.repeat(17)}_`])
    expect(check(prefix + token)).toBeUndefined();
});

test.each([
  ['', '000000'],
  ['123456789', '3jZRME'],
])('the checksum of %j is %s', (text, checksum) => {
  expect(toChecksum(text)).toBe(checksum);
});

test('checks no signature when the text does not have the form of a credential', () => {
  const { check, count } = createCheck();
  const garbage = [
    '',
    'pat_',
    'garbage',
    'a.b',
    'a.b.c',
    '..',
    'a..c',
    'a.b.c.d',
    'x'.repeat(5_000),
    `${encode({ kid: 7 })}.b.c`,
  ];
  for (const presented of garbage) expect(check(presented)).toBeUndefined();
  expect(check(mint(claims, { alg: 'EdDSA', kid: 'unknown' }))).toBeUndefined();
  expect(count()).toBe(0);
});

test('refuses a forged token, and refuses it again without another check', () => {
  const { check, count } = createCheck();
  const forged = `${mint().split('.').slice(0, 2).join('.')}.${Buffer.alloc(64).toString('base64url')}`;
  expect(check(forged)).toBeUndefined();
  expect(check(forged)).toBeUndefined();
  expect(count()).toBe(1);
});

test('refuses claims of another form although the signature is valid', () => {
  const { check } = createCheck();
  for (const wrong of [
    { kind: 'root' },
    { sub: 1 },
    { org: undefined },
    { jti: null },
    { exp: '9' },
    { scope: ['a'] },
  ])
    expect(check(mint({ ...claims, ...wrong }))).toBeUndefined();
});

test('checks every token again after the keys have changed', () => {
  const { check, setKeys } = createCheck();
  const token = mint();
  expect(check(token)).toBeDefined();
  setKeys(new Map());
  expect(check(token)).toBeUndefined();
  setKeys(new Map([['k', pem]]));
  expect(check(token)).toBeDefined();
});

test('throws 503 for an unknown key while the keys are stale, and still refuses what has another form', () => {
  const { check, count, setStale } = createCheck();
  const known = mint();
  const ofNewKey = mint(claims, { alg: 'EdDSA', kid: '019c0000-0000-7000-8000-00000000000a' });
  expect(check(ofNewKey)).toBeUndefined();
  setStale(true);
  expect(() => check(ofNewKey)).toThrow(expect.objectContaining({ statusCode: 503 }));
  expect(check(known)).toBeDefined();
  for (const garbage of [
    'a.b.c',
    mint(claims, { alg: 'EdDSA', kid: 'unknown' }),
    mint(claims, { alg: 'EdDSA' }),
  ])
    expect(check(garbage)).toBeUndefined();
  setStale(false);
  expect(check(ofNewKey)).toBeUndefined();
  expect(count()).toBe(1);
});
