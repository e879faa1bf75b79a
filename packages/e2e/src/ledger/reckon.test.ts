import { isSettled, reckon } from './reckon.js';
import type { Found, FoundRun, Responses } from './responses.js';

/** Ten seconds to a minute. */
const since = Date.parse('2026-01-01T10:00:50Z');
const run = (runId: string, more: Partial<FoundRun> = {}): FoundRun => ({
  runId,
  connector: 'files_2',
  trigger: 'manual',
  outcome: 'completed',
  scheduledFor: '2026-01-01T10:00:55.000Z',
  eventId: `event of ${runId}`,
  ...more,
});
const tick = run('tick', {
  connector: 'wiki_1',
  trigger: 'schedule',
  scheduledFor: '2026-01-01T10:01:00.000Z',
});

const responses = (changes: Partial<Responses> = {}): Responses => ({
  tokens: [{ name: 'token', created: 201, id: 't', revoked: 200 }],
  mails: [{ subject: 'mail', status: 202 }],
  runs: [{ connector: 'files_2', status: 202, runId: 'now' }],
  everyMinute: { connectors: ['wiki_1'], since },
  ...changes,
});
const events = (...runIds: string[]) =>
  runIds.map((runId) => ({ eventId: `event of ${runId}`, key: 'files_2' }));
const token = { id: 't', name: 'token', isRevoked: true, creations: 1, revocations: 1 };
const found = (changes: Partial<Found> = {}): Found => ({
  tokens: [token],
  subjects: ['mail', 'Somebody has created a token'],
  mails: [{ subject: 'mail', state: 'sent' }],
  runs: [run('now'), tick],
  feed: events('now', 'tick'),
  topic: events('now', 'now', 'tick'),
  until: since + 60_000,
  ...changes,
});

test('is sound when each thing was done once', () => {
  const reckoning = reckon(responses(), found());
  expect(reckoning).toMatchObject({
    tokens: { accepted: 1 },
    mails: { accepted: 1 },
    runs: { accepted: 1 },
    ticks: { accepted: 1 },
    events: { accepted: 2 },
  });
  expect(isSettled(responses(), found())).toBe(true);
  expect(Object.values(reckoning).flatMap(({ lost, doubled }) => [...lost, ...doubled])).toEqual([]);
});

test('is not settled while an event was read whose run completed after the runs were read', () => {
  expect(isSettled(responses(), found({ feed: events('now', 'tick', 'next') }))).toBe(false);
});

// oxfmt-ignore
test.each<[string, 'lost' | 'doubled', Partial<Found>, Partial<Responses>?]>([
  ['a token that is not stored', 'lost', { tokens: [] }],
  ['a revocation that is not stored', 'lost', { tokens: [{ ...token, isRevoked: false }] }],
  ['a creation that the audit lacks', 'lost', { tokens: [{ ...token, creations: 0 }] }],
  ['a token that is stored twice', 'doubled', { tokens: [token, { ...token, id: 't2' }] }],
  ['a mail that did not arrive', 'lost', { subjects: [] }],
  ['a mail that waits for ever', 'lost', { subjects: [], mails: [{ subject: 'mail', state: 'pending' }] }],
  ['a mail that arrived twice', 'doubled', { subjects: ['mail', 'mail'] }],
  ['a mail that arrived and was refused', 'doubled', {}, { mails: [{ subject: 'mail', status: 500, code: 'SMTP_ERROR' }] }],
  ['a run that is not stored', 'lost', { runs: [tick], feed: events('tick'), topic: events('tick') }],
  ['a run that never ends', 'lost', { runs: [run('now', { outcome: 'active' }), tick], feed: events('tick'), topic: events('tick') }],
  ['a minute without a run', 'lost', { runs: [run('now')], feed: events('now'), topic: events('now') }],
  ['a minute with two runs', 'doubled', { runs: [run('now'), tick, { ...tick, runId: 'tick2' }] }],
  ['an event that the feed lacks', 'lost', { feed: events('now') }],
  ['an event that Kafka lacks', 'lost', { topic: events('now') }],
  ['an event that the feed has twice', 'doubled', { feed: events('now', 'now', 'tick') }],
  ['an event without a run', 'doubled', { topic: events('now', 'tick', 'another') }],
])('finds %s', (_what, key, foundChanges, responseChanges = {}) => {
  const reckoning = reckon(responses(responseChanges), found(foundChanges));
  const counts = Object.values(reckoning).map((verdict) => verdict[key].length);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1);
});

test('counts apart what was accepted and ended in a failure that its record shows', () => {
  const reckoning = reckon(
    responses(),
    found({ subjects: [], mails: [{ subject: 'mail', state: 'unknown' }] }),
  );
  expect(reckoning.mails).toMatchObject({ lost: [], givenUp: ['mail is unknown'] });
});
