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
  /** Releases all backlogs, whose pauses are over. */
  const releaseAll = () => {
    time.now += 2_000;
    for (const due of backlogs.takeDue()) backlogs.release(due);
  };
  return { time, backlogs, releaseAll };
}

test('probes a held backlog with one event after a pause, and drains it once that is accepted', () => {
  const { time, backlogs } = setUp();
  const first = event(5, '1-a');
  expect(backlogs.hold(1, first)).toBe(true);
  expect(backlogs.takeDue()).toEqual([]);
  expect(backlogs.drainFrom(100n)).toBeUndefined();
  time.now += 2_000;
  const [due] = backlogs.takeDue();
  if (!due) throw new Error('not due');
  expect(due).toMatchObject({ state: 'probing', head: first });
  backlogs.release(due);
  expect(backlogs.count()).toBe(0);
  expect(backlogs.drainFrom(100n)).toBe(5n);
  expect(backlogs.isDrainedFrom(event(6, '1-b'), 5n)).toBe(true);
  expect(backlogs.isDrainedFrom(event(6, '2-a'), 5n)).toBe(false);
  backlogs.advance(5n, 100n);
  expect(backlogs.of(event(101, '1-a'))).toBe(due);
  expect(backlogs.drainFrom(100n)).toBeUndefined();
  expect(backlogs.of(event(101, '1-a'))).toBeUndefined();
});

test('does not count events as read when their backlog is released while a window is read', () => {
  const { backlogs, releaseAll } = setUp();
  backlogs.hold(1, event(5, '1-a'));
  releaseAll();
  expect(backlogs.isDrainedFrom(event(60, '1-a'), 50n)).toBe(false);
  backlogs.advance(50n, 90n);
  expect(backlogs.drainFrom(100n)).toBe(5n);
});

test('resumes a draining backlog with the event that failed', () => {
  const { time, backlogs, releaseAll } = setUp();
  backlogs.hold(1, event(5, '1-a'));
  releaseAll();
  backlogs.advance(5n, 90n);
  const failed = event(40, '1-b');
  backlogs.hold(1, failed);
  time.now += 2_000;
  expect(backlogs.takeDue()).toMatchObject([{ head: failed, cursor: 39n }]);
});

test('increases the pauses with each failure, up to two seconds', () => {
  const { backlogs } = setUp();
  backlogs.hold(1, event(5, '1-a'));
  expect(backlogs.nextDueMs()).toBeLessThan(500);
  for (let failure = 0; failure < 20; failure += 1) expect(backlogs.hold(1, event(5, '1-a'))).toBe(false);
  expect(backlogs.nextDueMs()).toBeGreaterThan(500);
  expect(backlogs.nextDueMs()).toBeLessThanOrEqual(2_000);
});
