import { checkHistory, measureRecovery, SCHEDULE, TOKEN, WORK } from './check.js';
import type { PastFault } from './faults.js';
import type { Operation } from './history.js';

type Times = readonly [startedAt: number, endedAt: number];
const OUTCOMES = {
  0: 'indeterminate',
  200: 'ok',
  401: 'refused',
  409: 'refused',
  503: 'indeterminate',
} as const;

const operation = (
  kind: string,
  object: string,
  [startedAt, endedAt]: Times,
  more: { readonly status?: keyof typeof OUTCOMES; readonly value?: unknown } = {},
): Operation => {
  const { status = 200, value } = more;
  return { kind, object, startedAt, endedAt, status, value, outcome: OUTCOMES[status], code: undefined };
};
const use = (times: Times, status: 200 | 401) => operation(TOKEN.use, 'token a', times, { status });
const revoke = (times: Times, status: 0 | 200 = 200) => operation(TOKEN.revoke, 'token a', times, { status });
const write = (value: number, times: Times) => operation(SCHEDULE.write, 'schedule', times, { value });
const read = (value: number, times: Times) => operation(SCHEDULE.read, 'schedule', times, { value });
const claim = (number: number, checkpoint: number | null, times: Times) =>
  operation(WORK.claim, 'checkpoint', times, { value: { claim: number, checkpoint } });
const report = (number: number, checkpoint: number, times: Times, status: 200 | 409 = 200) =>
  operation(WORK.heartbeat, 'checkpoint', times, { value: { claim: number, checkpoint }, status });

const fault: PastFault = {
  seed: 1,
  atSeconds: 0,
  kind: 'kill',
  target: 'mail 1',
  seconds: 0,
  startedAt: 100_000,
  mendedAt: 103_000,
};
const nothing = { feed: [], topic: [] };
/** Events of two connectors, as `a1` for the first of connector a. */
const events = (...names: string[]) => names.map((name) => ({ eventId: name, key: name.slice(0, 1) }));
const check = (operations: Operation[], found: Parameters<typeof checkHistory>[2] = nothing) =>
  checkHistory(operations, [{ ...fault, startedAt: 0, mendedAt: 0 }, fault], found).map(({ kind }) => kind);

// oxfmt-ignore
test.each<[string, Operation[]]>([
  ['a use before and a refusal after the revocation', [use([0, 1], 200), revoke([2, 5]), use([6, 7], 401)]],
  ['any answer while the revocation is under way', [revoke([2, 5]), use([3, 9], 200), use([3, 4], 401), use([4, 9], 200)]],
  ['any answer after a revocation without an answer', [revoke([2, 5], 0), use([6, 7], 401), use([8, 9], 200)]],
  ['a schedule that has the last write', [read(0, [0, 1]), write(1, [2, 3]), read(1, [4, 5])]],
  ['a report under the last claim', [claim(1, null, [0, 1]), report(1, 1, [2, 3]), claim(2, 1, [4, 5]), report(2, 2, [6, 7])]],
  ['a late report that is refused', [claim(1, null, [0, 1]), claim(2, null, [4, 5]), report(1, 1, [6, 7], 409)]],
  ['a late report that began before the later claim was answered', [claim(1, null, [0, 1]), claim(2, null, [4, 8]), report(1, 1, [6, 9])]],
  ['a failure during a fault', [operation('read', '', [101_000, 101_001], { status: 503 })]],
  ['a failure while the platform recovers', [operation('read', '', [110_000, 110_001], { status: 503 })]],
])('OPS-43 accepts %s', (_what, operations) => {
  expect(check(operations)).toEqual([]);
});

// oxfmt-ignore
test.each<[string, Operation[], string]>([
  ['an admission that began after the revocation was confirmed', [revoke([2, 5]), use([6, 7], 200)], 'admitted late'],
  ['an admission after the second try of a revocation', [revoke([2, 5], 0), revoke([6, 7]), use([8, 9], 200)], 'admitted late'],
  ['a refusal before the revocation began', [use([0, 1], 401), revoke([2, 5])], 'refused early'],
  ['a refusal of a token that is never revoked', [use([0, 1], 401)], 'refused early'],
  ['a confirmed write of a schedule that is lost', [read(0, [0, 1]), write(1, [2, 3]), read(0, [4, 5])], 'not linearizable'],
  ['a checkpoint that is lost', [claim(1, null, [0, 1]), report(1, 1, [2, 3]), claim(2, null, [4, 5])], 'not linearizable'],
  ['a report of a lease that was lost', [claim(1, null, [0, 1]), claim(2, null, [4, 5]), report(1, 1, [6, 7])], 'stored without a lease'],
  ['a failure before the fault', [operation('read', '', [90_000, 90_001], { status: 503 })], 'unexplained failure'],
  ['a failure long after the fault', [operation('read', '', [119_000, 119_001], { status: 0 })], 'unexplained failure'],
])('OPS-43 finds %s', (_what, operations, kind) => {
  expect(check(operations)).toEqual([kind]);
});

test('OPS-43 the events of a key have one order in the feed and in Kafka, where copies do not count', () => {
  const feed = events('a1', 'b1', 'a2', 'b2', 'a3');
  expect(check([], { feed, topic: events('b1', 'b2', 'b1', 'a1', 'a2', 'a1', 'a3') })).toEqual([]);
  expect(check([], { feed, topic: events('b1', 'b2', 'a2', 'a1', 'a3') })).toEqual(['out of order']);
});

test('OPS-45 measures how long requests failed after a fault was mended', () => {
  const get = (times: Times, status: 200 | 503) => operation('read', '', times, { status });
  const failing = [get([101_000, 101_500], 503), get([104_000, 104_500], 503)];
  const [recovery] = measureRecovery([fault], [...failing, get([105_000, 105_500], 200)]);
  expect(recovery).toMatchObject({ failed: 2, recoveredMs: 2_500 });
  expect(measureRecovery([fault], failing)[0]).toMatchObject({ recoveredMs: undefined });
});
