import { countDueNotices, describeDigest, type ExpiringToken, isNews } from './digest.js';

const now = new Date('2026-06-15T09:00:00Z');
const token = (expiresAt: string, fields: Partial<ExpiringToken> = {}): ExpiringToken => ({
  id: 'x',
  orgId: 'o',
  name: 'CI',
  account: null,
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
  [['2026-06-29T12:00:00Z'], 'tokensExpire', '1'],
  [['2026-06-15T08:00:00Z'], 'tokensExpired', '1'],
  [['2026-06-29T12:00:00Z', '2026-06-16T12:00:00Z'], 'tokensExpire', '2'],
  [['2026-06-15T08:00:00Z', '2026-06-15T07:00:00Z'], 'tokensExpired', '2'],
  [['2026-06-29T12:00:00Z', '2026-06-15T08:00:00Z'], 'tokensExpireOrExpired', '2'],
])('the digest of tokens that expire at %j is the notice %s of %s', (expiries, notice, count) => {
  expect(
    describeDigest({ expiring: expiries.map((expiresAt) => token(expiresAt)), unused: [] }, now),
  ).toMatchObject({ notice, count, name: 'CI' });
});

test('a digest lists the 50 tokens that expire first, and counts the others', () => {
  const tokens = Array.from({ length: 60 }, (_value, index) =>
    token('2026-06-29T12:00:00Z', { name: `CI ${index}` }),
  );
  const { items = '', hidden } = describeDigest(
    { expiring: [...tokens, token('2026-06-15T08:00:00Z')], unused: [] },
    now,
  );
  const lines = JSON.parse(items) as object[];
  expect([lines.length, hidden]).toEqual([50, '11']);
  expect(lines.slice(0, 2)).toEqual([
    { name: 'CI', account: '', state: 'expired', expiresAt: '2026-06-15T08:00:00.000Z' },
    { name: 'CI 0', account: '', state: 'expires', expiresAt: '2026-06-29T12:00:00.000Z' },
  ]);
});

const unused = (name: string, revokedFrom = '2026-06-22T09:00:00Z') => ({
  id: name,
  name,
  account: null,
  unusedSince: new Date('2026-03-24T09:00:00Z'),
  revokedFrom: new Date(revokedFrom),
});

test.each([
  [[], ['CI'], 'tokensUnused', '1'],
  [[], ['a', 'b'], 'tokensUnused', '2'],
  [['2026-06-29T12:00:00Z'], ['a'], 'tokensEnd', '2'],
])(
  'the digest of tokens that expire at %j and the unused %j is the notice %s of %s',
  (expiries, names, notice, count) => {
    const expiring = expiries.map((expiresAt) => token(expiresAt));
    const unusedTokens = names.map((name) => unused(name));
    expect(describeDigest({ expiring, unused: unusedTokens }, now)).toMatchObject({ notice, count });
  },
);

test('a digest says of unused tokens since when and until when, after those that expire', () => {
  const news = {
    expiring: [token('2026-06-29T12:00:00Z')],
    unused: [unused('later', '2026-06-23T09:00:00Z'), unused('first')],
  };
  const lines = JSON.parse(describeDigest(news, now)['items'] ?? '') as { name: string }[];
  expect(lines.map(({ name }) => name)).toEqual(['CI', 'first', 'later']);
  expect(lines[1]).toMatchObject({ state: 'unused', unusedSince: '2026-03-24', revokedFrom: '2026-06-22' });
});
