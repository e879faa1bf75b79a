import { DAY_MS, HOUR_MS } from '@platform/service-kit';
import type { DeliveryBatch } from './claim.sql.js';
import { type Result, toOutcomes, toProgress } from './outcomes.js';
import type { Sent } from './send.js';

const NOW = Date.parse('2026-01-31T00:00:00Z');
const webhook = { form: 'webhook', isAccepting: true, failures: 0, failingSince: null };
const failing = {
  ...webhook,
  isAccepting: false,
  failures: 3,
  failingSince: new Date(NOW - 5 * DAY_MS),
};
const logs = { ...webhook, form: 'logs' };

const toSent = (status: number, retryAfterMs?: number): Sent => ({
  isAccepted: status < 300,
  retryAfterMs,
  attempt: {
    at: new Date(NOW).toISOString(),
    status,
    fault: status < 300 ? null : 'http_error',
    durationMs: 1,
  },
});
/** A batch with so many facts, which was sent so often before. */
function toResult(sent: Sent | undefined, { attemptCount = 0, count = 1 } = {}): Result {
  const positions = Array.from({ length: count }, (_, index) => String(index + 1));
  const id = '019b7c8e-0000-7000-8000-000000000001';
  const batch: DeliveryBatch = {
    delivery: attemptCount > 0 ? { id, attemptCount, attempts: [], createdAt: new Date(NOW) } : undefined,
    factId: count === 1 ? id : null,
    type: null,
    firstPosition: '1',
    lastPosition: String(count),
    facts: positions.map((position) => `{"position":${position}}`),
    positions,
  };
  return { batch: sent ? batch : { ...batch, facts: [], positions: [] }, sent };
}
const refused = (attemptCount: number) => toResult(toSent(500), { attemptCount });

test('a fact is given up only when the destination accepts others', () => {
  const [alone] = toOutcomes(failing, [refused(11)], NOW);
  expect(alone).toMatchObject({ state: 'waiting', attemptCount: 11 });
  expect(alone?.nextAttemptAt?.getTime()).toBe(NOW + DAY_MS);
  const [beside] = toOutcomes(failing, [refused(11), toResult(toSent(200))], NOW);
  expect(beside).toMatchObject({
    state: 'failed',
    attemptCount: 12,
    nextAttemptAt: null,
  });
});

test('attempts during an outage do not count', () => {
  expect(toOutcomes(failing, [refused(0)], NOW)).toMatchObject([{ attemptCount: 1, state: 'waiting' }]);
  expect(toOutcomes(failing, [refused(1)], NOW)).toMatchObject([{ attemptCount: 1, state: 'waiting' }]);
  expect(toOutcomes(webhook, [refused(1)], NOW)).toMatchObject([{ attemptCount: 2, state: 'waiting' }]);
});

test('the pauses of a fact grow up to an hour while its destination accepts nothing', () => {
  const findPauses = (failures: number) =>
    toOutcomes({ ...failing, failures }, [refused(1)], NOW).map(
      ({ nextAttemptAt }) => Number(nextAttemptAt) - NOW,
    );
  expect([0, 1, 4, 100].flatMap(findPauses)).toEqual([5_000, 60_000, HOUR_MS, HOUR_MS]);
});

test('a destination is judged only by requests that were made', () => {
  const deleted = toResult(undefined);
  for (const results of [[], [deleted]])
    expect(toProgress(failing, results, NOW)).toMatchObject({
      failures: 3,
      resumeAt: null,
      disableReason: undefined,
    });
  expect(toProgress(failing, [refused(1)], NOW).disableReason).toBe('failing');
  for (const { form } of [webhook, logs])
    expect(toOutcomes({ ...webhook, form }, [deleted], NOW)).toMatchObject([
      { state: 'failed', attempts: [{ status: null, fault: 'fact_deleted' }] },
    ]);
});

test('Retry-After delays the destination only when it accepts nothing, and else the fact', () => {
  const busy = toResult(toSent(429, 2 * HOUR_MS));
  expect(toProgress(webhook, [busy], NOW).resumeAt?.getTime()).toBe(NOW + 2 * HOUR_MS);
  const results = [busy, toResult(toSent(204))];
  expect(toProgress(webhook, results, NOW)).toMatchObject({ isAccepting: true, resumeAt: null });
  const [waiting] = toOutcomes(webhook, results, NOW);
  expect(waiting?.nextAttemptAt?.getTime()).toBe(NOW + 2 * HOUR_MS);
});

test.each([400, 413])(
  'logs that are refused with %i are halved, and a single fact is passed over',
  (status) => {
    const results = [toResult(toSent(status), { count: 5, attemptCount: 1 })];
    const halves = toOutcomes(logs, results, NOW);
    expect(halves).toMatchObject([
      { state: 'waiting', facts: 3, firstPosition: '1', lastPosition: '3' },
      { state: 'waiting', facts: 2, firstPosition: '4', lastPosition: '5' },
    ]);
    expect(halves[0]?.id).not.toBe(halves[1]?.id);
    expect(toProgress(logs, results, NOW)).toMatchObject({ failures: 0, resumeAt: null });
    expect(toOutcomes(logs, [toResult(toSent(status))], NOW)).toMatchObject([{ state: 'failed' }]);
    expect(toProgress(logs, [toResult(toSent(status))], NOW)).toMatchObject({ failures: 1 });
    expect(toOutcomes(logs, [toResult(toSent(503), { count: 5 })], NOW)).toMatchObject([
      { state: 'waiting', facts: 5 },
    ]);
  },
);
