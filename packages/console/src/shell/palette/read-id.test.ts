import { hasSecret, readId } from './read-id.ts';

const ID = '0196f6a2-5b1c-7c3e-9b0a-3f7f5e2d1c4b';
const toJwt = (payload: object): string =>
  [{ alg: 'EdDSA' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.') + `.${'s'.repeat(86)}`;

test.each([
  ['an id', ID],
  ['an id in capitals', ID.toUpperCase()],
  ['a token', `pat_${toJwt({ jti: ID })}_abc123`],
  ['a token without prefix and checksum', toJwt({ jti: ID })],
  ['a header with a token', `Authorization: Bearer ${toJwt({ jti: ID })}`],
])('reads the id of %s', (_what, text) => {
  expect(readId(text)).toBe(ID);
});

test.each([
  '',
  'wiki',
  ID.slice(1),
  `${ID} and more`,
  toJwt({ jti: 'x' }),
  toJwt({}),
  'pat_eyJ.eyJ%.x',
  'eyJhbGciOiJ9.bm90anNvbg.s',
])('reads no id of %j', (text) => {
  expect(readId(text)).toBeUndefined();
});

test('knows what must not be sent', () => {
  expect(hasSecret(`pat_${toJwt({ jti: ID })}_abc123`)).toBe(true);
  // As long as it is being typed.
  expect(hasSecret('pat_eyJhb')).toBe(true);
  expect(hasSecret(ID)).toBe(false);
  expect(hasSecret('CI deploys')).toBe(false);
});
