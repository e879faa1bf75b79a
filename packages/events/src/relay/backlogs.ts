import { backoffMs } from './backoff.js';
import type { PendingEvent } from './queries.js';

/** Whose events wait: those of a partition that takes nothing now, or of a key whose next event is refused. */
export type BacklogKind = 'partition' | 'key';

/*
 * The states of a backlog.
 *
 *   (none)   → held      An event was not taken.
 *   held     → probing   After a pause that grows, its first event is offered again, by itself.
 *   probing  → held      It was not taken.
 *   probing  → draining  It was: what has waited behind it is read from the cursor on, and published.
 *   draining → held      An event was not taken.
 *   draining → (none)    The cursor has come to where the relay reads.
 */
export interface Backlog {
  readonly kind: BacklogKind;
  readonly name: string | number;
  state: 'held' | 'probing' | 'draining';
  /** Its events up to this position are published. */
  cursor: bigint;
  /** The first of its events, when that is known. */
  head: PendingEvent | undefined;
  failures: number;
  /** When its first event is offered again, by the clock of `now`. */
  until: number;
}

/** A refusal needs a person (or a setting of the topic) to end; a partition comes back by itself. */
const LONGEST_MS: Readonly<Record<BacklogKind, number>> = { partition: 2_000, key: 30_000 };

const before = ({ position }: PendingEvent): bigint => BigInt(position) - 1n;

export type Backlogs = ReturnType<typeof createBacklogs>;

/** What waits, and where in the outbox it begins: so that nothing that waits is read before its time. */
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
    backlog.until = now() + backoffMs(Math.max(1, backlog.failures), LONGEST_MS[backlog.kind]);
  };
  /** Whether the event must wait for its partition, though its key's backlog is draining. */
  const isBlocked = (event: Pick<PendingEvent, 'event_key'>): boolean => {
    const partition = partitions.get(toPartition(event));
    return partition !== undefined && partition.state !== 'draining';
  };
  const of = (event: Pick<PendingEvent, 'event_key'>): Backlog | undefined =>
    keys.size + partitions.size === 0
      ? undefined
      : (keys.get(event.event_key) ?? partitions.get(toPartition(event)));

  return {
    /** The backlog that the event belongs to: its key's before its partition's. */
    of,
    isBlocked,
    has: (kind: BacklogKind, name: string | number): boolean => ofKind(kind).has(name),
    /** How many have not begun to drain. */
    count: (kind: BacklogKind): number =>
      [...ofKind(kind).values()].filter(({ state }) => state !== 'draining').length,

    /**
     * An event was not taken, and everything from `first` on waits.
     * @param head - what is to be offered first; none when another backlog has it.
     * @returns whether this is the first failure since it last went well.
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

    /** The event was not published: its backlog begins with it, or before it. */
    rewind(event: PendingEvent): void {
      const backlog = of(event);
      if (!backlog) return;
      if (before(event) < backlog.cursor) backlog.cursor = before(event);
      if (backlog.state !== 'draining') return;
      backlog.head = event;
      pause(backlog);
    },

    /** Those whose first event is to be offered again, at most `max`; they are `probing` from now on. */
    takeDue(max: number): Backlog[] {
      // The longest due first, or those at the end would never have their turn.
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

    /** The first event was taken. */
    release(backlog: Backlog, head: PendingEvent): void {
      backlog.state = 'draining';
      backlog.cursor = BigInt(head.position);
      backlog.head = undefined;
      backlog.failures = 0;
    },

    /**
     * Forgets those that have come to `end`, where the relay reads.
     * @returns where the furthest behind of those that drain is; undefined when none does.
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

    /** Whether what waits of the event's backlog is read by a window that begins at `from`. */
    isDrainedFrom(event: Pick<PendingEvent, 'event_key' | 'position'>, from: bigint): boolean {
      const backlog = of(event);
      // One that was released after the window was begun may have events before it.
      return (
        backlog?.state === 'draining' && backlog.cursor >= from && BigInt(event.position) > backlog.cursor
      );
    },

    /** Everything that drains has been read between the two. */
    advance(from: bigint, end: bigint): void {
      for (const backlog of all())
        if (backlog.state === 'draining' && backlog.cursor >= from && backlog.cursor < end)
          backlog.cursor = end;
    },

    /** Until the next one is due; undefined when none is held. */
    nextDueMs(): number | undefined {
      const times = all().flatMap(({ state, until }) => (state === 'held' ? [until] : []));
      return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - now());
    },
  };
}
