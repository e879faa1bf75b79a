import { countDueNotices, describeDigest, type ExpiringToken, isNews } from './digest.js';

const now = new Date('2026-06-15T09:00:00Z');
const token = (expiresAt: string, fields: Partial<ExpiringToken> = {}): ExpiringToken => ({
  id: 'x',
  name: 'CI',
  createdAt: new Date('2026-01-01T00:00:00Z'),
  expiresAt: new Date(expiresAt),
  isMuted: false,
  ...fields,
});

test.each([
  ['2026-06-30T00:00:00Z', 0],
  ['2026-06-29T23:59:59Z', 1],
  ['2026-06-23T00:00:00Z', 1],
  ['2026-06-22T23:59:59Z', 2],
  ['2026-06-16T23:59:59Z', 3],
  ['2026-06-15T09:00:01Z', 3],
  ['2026-06-15T09:00:00Z', 4],
])('of a token that expires at %s, %d notices are due', (expiresAt, count) => {
  expect(countDueNotices(new Date(expiresAt), now)).toBe(count);
});

test('a notice is news unless it is muted, or was due when the token was created, or is old', () => {
  expect(isNews(token('2026-06-29T12:00:00Z'), now)).toBe(true);
  expect(isNews(token('2026-06-29T12:00:00Z', { isMuted: true }), now)).toBe(false);
  expect(isNews(token('2026-06-25T12:00:00Z', { createdAt: new Date('2026-06-14T12:00:00Z') }), now)).toBe(
    false,
  );
  expect(isNews(token('2026-06-16T12:00:00Z', { createdAt: new Date('2026-06-14T12:00:00Z') }), now)).toBe(
    true,
  );
  expect(isNews(token('2026-06-15T08:00:00Z', { createdAt: new Date('2026-06-14T12:00:00Z') }), now)).toBe(
    true,
  );
  expect(isNews(token('2026-06-12T08:00:00Z'), now)).toBe(false);
});

test.each([
  [['2026-06-29T12:00:00Z'], 'The access token "CI" expires soon'],
  [['2026-06-15T08:00:00Z'], 'The access token "CI" has expired'],
  [['2026-06-29T12:00:00Z', '2026-06-16T12:00:00Z'], '2 access tokens expire soon'],
  [['2026-06-15T08:00:00Z', '2026-06-15T07:00:00Z'], '2 access tokens have expired'],
  [['2026-06-29T12:00:00Z', '2026-06-15T08:00:00Z'], '2 access tokens expire soon or have expired'],
])('the digest of tokens that expire at %j has the headline %s', (expiries, headline) => {
  expect(
    describeDigest({ expiring: expiries.map((expiresAt) => token(expiresAt)), unused: [] }, now).headline,
  ).toBe(headline);
});

test('a digest lists the 50 tokens that expire first, and counts the others', () => {
  const tokens = Array.from({ length: 60 }, (_value, index) =>
    token('2026-06-29T12:00:00Z', { name: `CI ${index}` }),
  );
  const { tokens: listed = '', more } = describeDigest(
    { expiring: [...tokens, token('2026-06-15T08:00:00Z')], unused: [] },
    now,
  );
  const lines = JSON.parse(listed) as { name: string; end: string }[];
  expect([lines.length, more]).toEqual([50, 'And 11 more.']);
  expect(lines.slice(0, 2)).toEqual([
    { name: 'CI', end: 'expired on 2026-06-15 08:00 UTC' },
    { name: 'CI 0', end: 'expires on 2026-06-29 12:00 UTC' },
  ]);
});

const unused = (name: string, revokedFrom = '2026-06-22T09:00:00Z') => ({
  id: name,
  name,
  unusedSince: new Date('2026-03-24T09:00:00Z'),
  revokedFrom: new Date(revokedFrom),
});

test.each([
  [[], ['CI'], 'The access token "CI" is unused'],
  [[], ['a', 'b'], '2 access tokens are unused, and are revoked soon'],
  [['2026-06-29T12:00:00Z'], ['a'], '2 access tokens end soon or have ended'],
])(
  'the digest of tokens that expire at %j and the unused %j has the headline %s',
  (expiries, names, headline) => {
    const expiring = expiries.map((expiresAt) => token(expiresAt));
    expect(describeDigest({ expiring, unused: names.map((name) => unused(name)) }, now).headline).toBe(
      headline,
    );
  },
);

test('a digest says of unused tokens since when and until when, after those that expire', () => {
  const news = {
    expiring: [token('2026-06-29T12:00:00Z')],
    unused: [unused('later', '2026-06-23T09:00:00Z'), unused('first')],
  };
  const lines = JSON.parse(describeDigest(news, now)['tokens'] ?? '') as { name: string; end: string }[];
  expect(lines.map(({ name }) => name)).toEqual(['CI', 'first', 'later']);
  expect(lines[1]?.end).toBe(
    'not used since 2026-03-24: it is revoked on 2026-06-22, unless it is used before',
  );
});
