import type { Clock } from '@platform/service-kit';
import { type Priority, priorities } from './mail.js';

/** After this time without an attempt, a server counts as available: it may be back. */
const SILENT_MS = 10 * 60_000;

interface Waiting {
  readonly priority: Priority;
  start(): void;
}

interface OrganisationSlots {
  others: number;
  total: number;
  /** The mails whose callers wait, in the order of their arrival. */
  waiting: Waiting[];
}

/**
 * Limits the mails of each organisation that this replica sends at once to the connections of its pool: `perOrganisation`
 * for all mails, and one more that only codes get. Mails whose callers wait are started before queued ones.
 *
 * Of an organisation whose server does not answer, one queued mail is tried at a time, and one code. Otherwise some dozens of
 * them, with many due mails each, would hold all places of this replica, while each attempt waits for a timeout.
 */
export function createSlots(options: {
  readonly perOrganisation: number;
  /** The most queued mails at once, besides codes, of all organisations together whose servers do not answer. */
  readonly maxSilent: number;
  readonly clock: Clock;
  /** Called when an organisation has room, and none of its callers waits for it. */
  readonly onFree: () => void;
}) {
  const { perOrganisation, maxSilent, clock, onFree } = options;
  const perOrganisationWithCodes = perOrganisation + 1;
  const organisations = new Map<string, OrganisationSlots>();
  /** The organisations whose servers did not answer the last attempt, and since when. */
  const silent = new Map<string, number>();

  const hasRoom = ({ others, total }: OrganisationSlots, priority: Priority): boolean =>
    total < perOrganisationWithCodes && (priority === priorities.code || others < perOrganisation);

  function get(orgId: string): OrganisationSlots {
    let slots = organisations.get(orgId);
    if (!slots) {
      slots = { others: 0, total: 0, waiting: [] };
      organisations.set(orgId, slots);
    }
    return slots;
  }

  function take(slots: OrganisationSlots, priority: Priority): void {
    slots.total += 1;
    if (priority !== priorities.code) slots.others += 1;
  }

  /** Starts the most urgent waiting mail. @returns false when none could be started. */
  function startNext(slots: OrganisationSlots): boolean {
    const next = slots.waiting
      .filter(({ priority }) => hasRoom(slots, priority))
      .reduce<Waiting | undefined>(
        (first, one) => (first && first.priority <= one.priority ? first : one),
        undefined,
      );
    if (!next) return false;
    slots.waiting.splice(slots.waiting.indexOf(next), 1);
    take(slots, next.priority);
    next.start();
    return true;
  }

  return {
    perOrganisation,
    perOrganisationWithCodes,

    /** The slots that no queued mail can take, by organisation: `[besides codes, all]`. */
    held(): ReadonlyMap<string, readonly [number, number]> {
      const held = new Map<string, readonly [number, number]>();
      for (const [orgId, { others, total }] of organisations) held.set(orgId, [others, total]);
      for (const [orgId, since] of silent) if (clock() - since > SILENT_MS) silent.delete(orgId);
      const othersOf = (orgId: string): number => held.get(orgId)?.[0] ?? 0;
      const inUse = [...silent.keys()].reduce((sum, orgId) => sum + othersOf(orgId), 0);
      const closed = perOrganisation - (inUse < maxSilent ? 1 : 0);
      for (const orgId of silent.keys()) {
        const [others, total] = held.get(orgId) ?? [0, 0];
        held.set(orgId, [others + closed, total + perOrganisation - 1]);
      }
      return held;
    },

    /** Takes note of whether the server of an organisation answered an attempt. */
    setAnswering(orgId: string, isAnswering: boolean): void {
      silent.delete(orgId);
      if (!isAnswering) silent.set(orgId, clock());
    },

    /** Takes a slot for a queued mail that was claimed within the limits. */
    take: (orgId: string, priority: Priority): void => {
      take(get(orgId), priority);
    },

    /**
     * Waits for a slot.
     *
     * @param deadlineAt - in milliseconds of `performance.now()`.
     * @returns false when there is none by then.
     */
    acquire(orgId: string, priority: Priority, deadlineAt: number): Promise<boolean> {
      const slots = get(orgId);
      if (hasRoom(slots, priority)) {
        take(slots, priority);
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        const waiting: Waiting = {
          priority,
          start() {
            clearTimeout(timer);
            resolve(true);
          },
        };
        const leave = (): void => {
          slots.waiting.splice(slots.waiting.indexOf(waiting), 1);
          resolve(false);
        };
        const timer = setTimeout(leave, Math.max(0, deadlineAt - performance.now()));
        slots.waiting.push(waiting);
      });
    },

    release(orgId: string, priority: Priority): void {
      const slots = get(orgId);
      slots.total -= 1;
      if (priority !== priorities.code) slots.others -= 1;
      const isStarted = startNext(slots);
      if (slots.total === 0 && slots.waiting.length === 0) organisations.delete(orgId);
      if (!isStarted) onFree();
    },
  };
}
