import { findStep, generateSecret, isTotpCode, toUri } from './totp.js';

/** The secret of RFC 6238, Appendix B, in base32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
])('accepts the code of RFC 6238 at second %i', (second, code) => {
  expect(findStep(secret, code, second * 1_000)).toBe(Math.floor(second / 30));
});

test('accepts the codes of the previous and the next step, and no others', () => {
  const at = 1_234_567_890_000;
  const offsets = [-60_000, -30_000, 0, 30_000, 60_000];
  expect(offsets.map((offset) => findStep(secret, '005924', at + offset))).toEqual([
    undefined,
    41_152_263,
    41_152_263,
    41_152_263,
    undefined,
  ]);
});

test('secrets have 160 random bits', () => {
  expect(generateSecret()).toMatch(/^[A-Z2-7]{32}$/);
  expect(generateSecret()).not.toBe(generateSecret());
});

test('the URI escapes the issuer and the account', () => {
  const uri = new URL(toUri(secret, { issuer: 'A:B & co?', account: 'ada+x@example.com' }));
  expect(decodeURIComponent(uri.pathname)).toContain('A B & co?:ada+x@example.com');
  expect(Object.fromEntries(uri.searchParams)).toMatchObject({
    secret,
    issuer: 'A B & co?',
    digits: '6',
    period: '30',
  });
});

test('a long name of the issuer is cut between characters', () => {
  const { searchParams } = new URL(toUri(secret, { issuer: '🏢'.repeat(500), account: 'ada@example.com' }));
  expect(searchParams.get('issuer')).toBe('🏢'.repeat(40));
});

test('a code has six digits', () => {
  expect(['123456', '12345', '1234567', '12345a', '１２３４５６'].map(isTotpCode)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});
