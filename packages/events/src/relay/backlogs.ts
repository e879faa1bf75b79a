import { backoffMs } from '@platform/service-kit';
import type { PendingEvent } from './queries.js';

/*
 * The events of a partition that accepts nothing at present, or refuses its next event.
 *
 *   (none)   → held      An event was not accepted.
 *   held     → probing   After a growing pause, the first event is sent again, by itself.
 *   probing  → held      It was not accepted.
 *   probing  → draining  It was accepted: the events behind it are read from the cursor on, and published.
 *   draining → held      An event was not accepted.
 *   draining → (none)    The cursor has reached the position at which the relay reads.
 */
export interface Backlog {
  readonly partition: number;
  state: 'held' | 'probing' | 'draining';
  /** All events of the partition up to this position are published. */
  cursor: bigint;
  /** The first event of the backlog, until it is accepted. */
  head: PendingEvent;
  failures: number;
  /** The time of the next attempt to send the first event, by the clock of `now`. */
  until: number;
}

const LONGEST_PAUSE_MS = 2_000;

export type Backlogs = ReturnType<typeof createBacklogs>;

/** Keeps track of the backlogs and of where they begin in the outbox, so that waiting events are not read repeatedly. */
export function createBacklogs(
  toPartition: (event: Pick<PendingEvent, 'event_key'>) => number,
  now: () => number = () => performance.now(),
) {
  const backlogs = new Map<number, Backlog>();
  const withState = (state: Backlog['state']) =>
    [...backlogs.values()].filter((each) => each.state === state);
  const of = (event: Pick<PendingEvent, 'event_key'>): Backlog | undefined =>
    backlogs.size === 0 ? undefined : backlogs.get(toPartition(event));

  return {
    /** Returns the backlog that contains the event. */
    of,
    /** Returns how many backlogs have not begun to drain. */
    count: (): number => backlogs.size - withState('draining').length,

    /**
     * Records that an event was not accepted, so that everything of its partition from it on waits.
     *
     * @returns whether this is the first failure since the last success.
     */
    hold(partition: number, head: PendingEvent): boolean {
      const failures = (backlogs.get(partition)?.failures ?? 0) + 1;
      const until = now() + backoffMs(failures, { maxMs: LONGEST_PAUSE_MS });
      const cursor = BigInt(head.position) - 1n;
      backlogs.set(partition, { partition, state: 'held', cursor, head, failures, until });
      return failures === 1;
    },

    /** Returns the backlogs whose first event is due to be sent again, and marks them as `probing`. */
    takeDue(): Backlog[] {
      const due = withState('held').filter(({ until }) => until <= now());
      for (const backlog of due) backlog.state = 'probing';
      return due;
    },

    /** Begins to drain a backlog whose first event was accepted. */
    release(backlog: Backlog): void {
      backlog.state = 'draining';
      backlog.cursor = BigInt(backlog.head.position);
      backlog.failures = 0;
    },

    /**
     * Removes the backlogs that have reached `end`, the position at which the relay reads.
     *
     * @returns the lowest cursor of the draining backlogs; undefined when none is draining.
     */
    drainFrom(end: bigint): bigint | undefined {
      let from: bigint | undefined;
      for (const { partition, cursor } of withState('draining')) {
        if (cursor >= end) backlogs.delete(partition);
        else if (from === undefined || cursor < from) from = cursor;
      }
      return from;
    },

    /** Returns whether a window that begins at `from` drains the event's backlog. */
    isDrainedFrom(event: Pick<PendingEvent, 'event_key' | 'position'>, from: bigint): boolean {
      const backlog = of(event);
      // A backlog that was released after the window was begun may have events before it.
      return (
        backlog?.state === 'draining' && backlog.cursor >= from && BigInt(event.position) > backlog.cursor
      );
    },

    /** Records that the draining backlogs have been read between the two positions. */
    advance(from: bigint, end: bigint): void {
      for (const backlog of withState('draining'))
        if (backlog.cursor >= from && backlog.cursor < end) backlog.cursor = end;
    },

    /** Returns the time until the next backlog is due, in ms; undefined when none is held. */
    nextDueMs(): number | undefined {
      const times = withState('held').map(({ until }) => until);
      return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - now());
    },
  };
}
