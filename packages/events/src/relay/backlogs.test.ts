import { createBacklogs } from './backlogs.js';
import type { PendingEvent } from './queries.js';

/** Creates an event of a key `<partition>-<name>`. */
const event = (position: number, key: string): PendingEvent => ({
  event_id: String(position),
  event_key: key,
  event: '{}',
  position: String(position),
  created_at: new Date(0),
  traceparent: null,
});

function setUp() {
  const time = { now: 0 };
  const backlogs = createBacklogs(
    ({ event_key: key }) => Number(key.split('-')[0]),
    () => time.now,
  );
  return { time, backlogs };
}

test('probes a held backlog with one event after a pause, and drains it once that is accepted', () => {
  const { time, backlogs } = setUp();
  const first = event(5, '1-a');
  expect(backlogs.hold('partition', 1, first)).toBe(true);
  expect(backlogs.takeDue(10)).toEqual([]);
  expect(backlogs.drainFrom(100n)).toBeUndefined();
  time.now += 2_000;
  const [due] = backlogs.takeDue(10);
  if (!due) throw new Error('not due');
  expect(due).toMatchObject({ state: 'probing', head: first });
  backlogs.release(due, first);
  expect(backlogs.drainFrom(100n)).toBe(5n);
  expect(backlogs.isDrainedFrom(event(6, '1-a'), 5n)).toBe(true);
  expect(backlogs.isDrainedFrom(event(6, '2-a'), 5n)).toBe(false);
  backlogs.advance(5n, 100n);
  expect(backlogs.of(event(101, '1-a'))).toBe(due);
  expect(backlogs.drainFrom(100n)).toBeUndefined();
  expect(backlogs.of(event(101, '1-a'))).toBeUndefined();
});

test('does not count events as read when their backlog is released while a window is read', () => {
  const { time, backlogs } = setUp();
  backlogs.hold('partition', 1, event(5, '1-a'));
  time.now += 2_000;
  for (const due of backlogs.takeDue(1)) backlogs.release(due, event(5, '1-a'));
  expect(backlogs.isDrainedFrom(event(60, '1-a'), 50n)).toBe(false);
  backlogs.advance(50n, 90n);
  expect(backlogs.drainFrom(100n)).toBe(5n);
});

test('holds only the refused key, not its partition', () => {
  const { backlogs } = setUp();
  backlogs.hold('key', '1-a', event(5, '1-a'));
  expect(backlogs.of(event(6, '1-a'))).toMatchObject({ kind: 'key' });
  expect(backlogs.of(event(7, '1-b'))).toBeUndefined();
});

test('does not probe a key while its partition is held', () => {
  const { time, backlogs } = setUp();
  backlogs.hold('key', '1-a', event(5, '1-a'));
  backlogs.hold('partition', 1, event(6, '1-b'));
  time.now += 10_000;
  expect(backlogs.takeDue(10)).toMatchObject([{ kind: 'partition' }]);
});

test('resumes a draining backlog with the event that failed', () => {
  const { time, backlogs } = setUp();
  backlogs.hold('partition', 1, event(5, '1-a'));
  time.now += 2_000;
  for (const due of backlogs.takeDue(1)) backlogs.release(due, event(5, '1-a'));
  backlogs.advance(5n, 90n);
  const failed = [event(40, '1-b'), event(41, '1-a')];
  backlogs.hold('partition', 1, failed[0] as PendingEvent);
  for (const one of failed) backlogs.rewind(one);
  time.now += 2_000;
  expect(backlogs.takeDue(1)).toMatchObject([{ head: failed[0], cursor: 39n }]);
});

test('increases the pauses with each failure, up to two seconds for a partition and thirty for a key', () => {
  const { backlogs } = setUp();
  for (let failure = 0; failure < 20; failure += 1) backlogs.hold('key', '1-a', event(5, '1-a'));
  expect(backlogs.nextDueMs()).toBeGreaterThan(14_000);
  for (let failure = 0; failure < 20; failure += 1) backlogs.hold('partition', 1, event(6, '1-b'));
  expect(backlogs.nextDueMs()).toBeLessThanOrEqual(2_000);
});
