import { type Lane, lanes } from './mail.js';

interface Waiting {
  readonly lane: Lane;
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
 */
export function createSlots(options: {
  readonly perOrganisation: number;
  /** Called when an organisation has room, and none of its callers waits for it. */
  readonly onFree: () => void;
}) {
  const { perOrganisation, onFree } = options;
  const perOrganisationWithCodes = perOrganisation + 1;
  const organisations = new Map<string, OrganisationSlots>();

  const hasRoom = ({ others, total }: OrganisationSlots, lane: Lane): boolean =>
    total < perOrganisationWithCodes && (lane === lanes.code || others < perOrganisation);

  function get(orgId: string): OrganisationSlots {
    let slots = organisations.get(orgId);
    if (!slots) {
      slots = { others: 0, total: 0, waiting: [] };
      organisations.set(orgId, slots);
    }
    return slots;
  }

  function take(slots: OrganisationSlots, lane: Lane): void {
    slots.total += 1;
    if (lane !== lanes.code) slots.others += 1;
  }

  /** Starts the most urgent waiting mail. @returns false when none could be started. */
  function startNext(slots: OrganisationSlots): boolean {
    const next = slots.waiting
      .filter(({ lane }) => hasRoom(slots, lane))
      .reduce<Waiting | undefined>(
        (first, one) => (first && first.lane <= one.lane ? first : one),
        undefined,
      );
    if (!next) return false;
    slots.waiting.splice(slots.waiting.indexOf(next), 1);
    take(slots, next.lane);
    next.start();
    return true;
  }

  return {
    perOrganisation,
    perOrganisationWithCodes,

    /** The slots in use, by organisation: `[besides codes, all]`. */
    held: (): ReadonlyMap<string, readonly [number, number]> =>
      new Map([...organisations].map(([orgId, { others, total }]) => [orgId, [others, total]])),

    /** Takes a slot for a queued mail that was claimed within the limits. */
    take: (orgId: string, lane: Lane): void => {
      take(get(orgId), lane);
    },

    /** Waits for a slot. @returns false when the signal is aborted before there is one. */
    acquire(orgId: string, lane: Lane, signal: AbortSignal): Promise<boolean> {
      const slots = get(orgId);
      if (signal.aborted) return Promise.resolve(false);
      if (hasRoom(slots, lane)) {
        take(slots, lane);
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        const waiting: Waiting = {
          lane,
          start() {
            signal.removeEventListener('abort', leave);
            resolve(true);
          },
        };
        const leave = (): void => {
          slots.waiting.splice(slots.waiting.indexOf(waiting), 1);
          resolve(false);
        };
        slots.waiting.push(waiting);
        signal.addEventListener('abort', leave, { once: true });
      });
    },

    release(orgId: string, lane: Lane): void {
      const slots = get(orgId);
      slots.total -= 1;
      if (lane !== lanes.code) slots.others -= 1;
      const isStarted = startNext(slots);
      if (slots.total === 0 && slots.waiting.length === 0) organisations.delete(orgId);
      if (!isStarted) onFree();
    },
  };
}
