import { backoffMs } from '@platform/service-kit';
import type { PendingEvent } from './queries.js';

/** The events that wait: those of a partition that accepts nothing at present, or of a key whose next event is refused. */
export type BacklogKind = 'partition' | 'key';

/*
 * The states of a backlog.
 *
 *   (none)   → held      An event was not accepted.
 *   held     → probing   After a growing pause, the first event is sent again, by itself.
 *   probing  → held      It was not accepted.
 *   probing  → draining  It was accepted: the events behind it are read from the cursor on, and published.
 *   draining → held      An event was not accepted.
 *   draining → (none)    The cursor has reached the position at which the relay reads.
 */
export interface Backlog {
  readonly kind: BacklogKind;
  readonly name: string | number;
  state: 'held' | 'probing' | 'draining';
  /** All events of the backlog up to this position are published. */
  cursor: bigint;
  /** The first event of the backlog, when it is known. */
  head: PendingEvent | undefined;
  failures: number;
  /** The time of the next attempt to send the first event, by the clock of `now`. */
  until: number;
}

/** The longest pauses. A refusal ends only by a change of the topic's settings; a partition recovers by itself. */
const LONGEST_MS: Readonly<Record<BacklogKind, number>> = { partition: 2_000, key: 30_000 };

const before = ({ position }: PendingEvent): bigint => BigInt(position) - 1n;

export type Backlogs = ReturnType<typeof createBacklogs>;

/** Keeps track of the backlogs and of where they begin in the outbox, so that waiting events are not read repeatedly. */
export function createBacklogs(
  toPartition: (event: Pick<PendingEvent, 'event_key'>) => number,
  now: () => number = () => performance.now(),
) {
  const partitions = new Map<string | number, Backlog>();
  const keys = new Map<string | number, Backlog>();
  const ofKind = (kind: BacklogKind) => (kind === 'key' ? keys : partitions);
  const all = () => [...partitions.values(), ...keys.values()];

  const pause = (backlog: Backlog): void => {
    backlog.state = 'held';
    backlog.until = now() + backoffMs(Math.max(1, backlog.failures), { maxMs: LONGEST_MS[backlog.kind] });
  };
  /** Returns whether the event must wait for its partition although the backlog of its key is draining. */
  const isBlocked = (event: Pick<PendingEvent, 'event_key'>): boolean => {
    const partition = partitions.get(toPartition(event));
    return partition !== undefined && partition.state !== 'draining';
  };
  const of = (event: Pick<PendingEvent, 'event_key'>): Backlog | undefined =>
    keys.size + partitions.size === 0
      ? undefined
      : (keys.get(event.event_key) ?? partitions.get(toPartition(event)));

  return {
    /** Returns the backlog that contains the event; that of its key takes precedence over that of its partition. */
    of,
    isBlocked,
    has: (kind: BacklogKind, name: string | number): boolean => ofKind(kind).has(name),
    /** Returns how many backlogs have not begun to drain. */
    count: (kind: BacklogKind): number =>
      [...ofKind(kind).values()].filter(({ state }) => state !== 'draining').length,

    /**
     * Records that an event was not accepted, so that everything from `first` on waits.
     * @param head - the event to send first; undefined when another backlog contains it.
     * @returns whether this is the first failure since the last success.
     */
    hold(
      kind: BacklogKind,
      name: string | number,
      first: PendingEvent,
      head = first as PendingEvent | undefined,
    ): boolean {
      const found = ofKind(kind).get(name);
      const backlog = found ?? {
        kind,
        name,
        state: 'held',
        cursor: before(first),
        head,
        failures: 0,
        until: 0,
      };
      backlog.failures += 1;
      backlog.head = head;
      pause(backlog);
      ofKind(kind).set(name, backlog);
      return backlog.failures === 1;
    },

    /** Moves the beginning of a backlog back to the event, which was not published. */
    rewind(event: PendingEvent): void {
      const backlog = of(event);
      if (!backlog) return;
      if (before(event) < backlog.cursor) backlog.cursor = before(event);
      if (backlog.state !== 'draining') return;
      backlog.head = event;
      pause(backlog);
    },

    /** Returns at most `max` backlogs whose first event is due to be sent again, and marks them as `probing`. */
    takeDue(max: number): Backlog[] {
      // The longest overdue come first; otherwise the last ones could starve.
      const due = all()
        .filter(({ state, until }) => state === 'held' && until <= now())
        .toSorted((a, b) => a.until - b.until);
      const probed: Backlog[] = [];
      for (const backlog of due.slice(0, max)) {
        const { kind, head } = backlog;
        if (!head) backlog.state = 'draining';
        else if (kind === 'key' && isBlocked(head)) pause(backlog);
        else {
          backlog.state = 'probing';
          probed.push(backlog);
        }
      }
      return probed;
    },

    /** Begins to drain a backlog whose first event was accepted. */
    release(backlog: Backlog, head: PendingEvent): void {
      backlog.state = 'draining';
      backlog.cursor = BigInt(head.position);
      backlog.head = undefined;
      backlog.failures = 0;
    },

    /**
     * Removes the backlogs that have reached `end`, the position at which the relay reads.
     * @returns the lowest cursor of the draining backlogs; undefined when none is draining.
     */
    drainFrom(end: bigint): bigint | undefined {
      let from: bigint | undefined;
      for (const { kind, name, state, cursor } of all()) {
        if (state !== 'draining') continue;
        if (cursor >= end) ofKind(kind).delete(name);
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
      for (const backlog of all())
        if (backlog.state === 'draining' && backlog.cursor >= from && backlog.cursor < end)
          backlog.cursor = end;
    },

    /** Returns the time until the next backlog is due, in ms; undefined when none is held. */
    nextDueMs(): number | undefined {
      const times = all().flatMap(({ state, until }) => (state === 'held' ? [until] : []));
      return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - now());
    },
  };
}
