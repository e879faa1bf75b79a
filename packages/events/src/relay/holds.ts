import { backoffMs } from './backoff.js';

/** Why a lane is held: a partition that takes nothing now, or a key whose next event is refused. */
export type HoldKind = 'partition' | 'key';

/** What is held back for a while, so that everything else can go on. */
export interface Holds {
  has(kind: HoldKind, name: string | number): boolean;
  /** @returns whether this is the first failure since it last went well. */
  hold(kind: HoldKind, name: string | number): boolean;
  /** It went well: forget its failures. @returns whether there were any. */
  clear(kind: HoldKind, name: string | number): boolean;
  /** Lets those go whose time has come. @returns whether there were any. */
  releaseDue(): boolean;
  /** Until the next one is due; undefined when nothing is held. */
  nextDueMs(): number | undefined;
  count(kind: HoldKind): number;
}

interface Hold {
  readonly kind: HoldKind;
  failures: number;
  until: number;
  isHeld: boolean;
}

/** A refusal needs a person (or a setting of the topic) to end; a partition comes back by itself. */
const LONGEST_MS: Readonly<Record<HoldKind, number>> = { partition: 2_000, key: 30_000 };

export function createHolds(now: () => number = () => performance.now()): Holds {
  const holds = new Map<string, Hold>();
  const id = (kind: HoldKind, name: string | number) => `${kind} ${name}`;
  return {
    has: (kind, name) => holds.get(id(kind, name))?.isHeld ?? false,
    hold(kind, name) {
      const failures = (holds.get(id(kind, name))?.failures ?? 0) + 1;
      const until = now() + backoffMs(failures, LONGEST_MS[kind]);
      holds.set(id(kind, name), { kind, failures, until, isHeld: true });
      return failures === 1;
    },
    clear: (kind, name) => holds.size > 0 && holds.delete(id(kind, name)),
    releaseDue() {
      const due = [...holds.values()].filter((hold) => hold.isHeld && hold.until <= now());
      for (const hold of due) hold.isHeld = false;
      return due.length > 0;
    },
    nextDueMs() {
      const times = [...holds.values()].flatMap((hold) => (hold.isHeld ? [hold.until] : []));
      return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - now());
    },
    count: (kind) => [...holds.values()].filter((hold) => hold.kind === kind).length,
  };
}
