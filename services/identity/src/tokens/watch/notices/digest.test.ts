import { countDueNotices, describeDigest, type ExpiringToken, isReportable } from './digest.js';

const now = new Date('2026-06-15T09:00:00Z');
const yesterday = new Date('2026-06-14T12:00:00Z');
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

const unused = (name: string, revokedFrom = '2026-06-22T09:00:00Z') => ({
  id: name,
  name,
  account: null,
  unusedSince: new Date('2026-03-24T09:00:00Z'),
  revokedFrom: new Date(revokedFrom),
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

test.each<[what: string, expiresAt: string, fields: Partial<ExpiringToken>, expected: boolean]>([
  ['is due', '2026-06-29T12:00:00Z', {}, true],
  ['is muted', '2026-06-29T12:00:00Z', { isMuted: true }, false],
  ['was due when the token was created', '2026-06-25T12:00:00Z', { createdAt: yesterday }, false],
  ['became due since', '2026-06-16T12:00:00Z', { createdAt: yesterday }, true],
  ['says that a new token has expired', '2026-06-15T08:00:00Z', { createdAt: yesterday }, true],
  ['is old', '2026-06-12T08:00:00Z', {}, false],
])('a notice that %s is sent: %4$s', (_what, expiresAt, fields, expected) => {
  expect(isReportable(token(expiresAt, fields), now)).toBe(expected);
});

test.each([
  [['2026-06-29T12:00:00Z'], [], 'tokensExpire', '1'],
  [['2026-06-15T08:00:00Z', '2026-06-15T07:00:00Z'], [], 'tokensExpired', '2'],
  [['2026-06-29T12:00:00Z', '2026-06-15T08:00:00Z'], [], 'tokensExpireOrExpired', '2'],
  [[], ['a', 'b'], 'tokensUnused', '2'],
  [['2026-06-29T12:00:00Z'], ['a'], 'tokensEnd', '2'],
])(
  'the digest of tokens that expire at %j and the unused %j is the notice %s of %s',
  (expiries, names, notice, count) => {
    const expiring = expiries.map((expiresAt) => token(expiresAt));
    expect(describeDigest({ expiring, unused: names.map((name) => unused(name)) }, now)).toMatchObject({
      notice,
      count,
    });
  },
);

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

test('a digest says of unused tokens since when and until when, after expiring tokens', () => {
  const due = {
    expiring: [token('2026-06-29T12:00:00Z')],
    unused: [unused('later', '2026-06-23T09:00:00Z'), unused('first')],
  };
  const lines = JSON.parse(describeDigest(due, now)['items'] ?? '') as { name: string }[];
  expect(lines.map(({ name }) => name)).toEqual(['CI', 'first', 'later']);
  expect(lines[1]).toMatchObject({ state: 'unused', unusedSince: '2026-03-24', revokedFrom: '2026-06-22' });
});
