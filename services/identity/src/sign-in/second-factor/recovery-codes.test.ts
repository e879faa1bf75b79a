import { generateRecoveryCodes, toRecoveryDigest } from './recovery-codes.js';

test('a set has ten different codes that are easy to read', () => {
  const codes = generateRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^(?:[0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
});

test('reads a code in upper case, without hyphens, or with letters that look like digits', () => {
  const digest = toRecoveryDigest('01ab-cdef-ghjk-mnpq');
  expect(digest).toMatch(/^[\w-]{40,}/);
  for (const typed of ['01ABCDEFGHJKMNPQ', 'oiab cdef ghjk mnpq', ' OLab-cdef-ghjk-mnpq '])
    expect(toRecoveryDigest(typed)).toBe(digest);
  expect([toRecoveryDigest('123456'), toRecoveryDigest('')]).toEqual([undefined, undefined]);
});
