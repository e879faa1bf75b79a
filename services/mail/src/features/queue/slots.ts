import type { Clock } from '@platform/service-kit';
import type { Room } from './claim.sql.js';
import { type Priority, priorities } from './mail.js';

/** After this time without an attempt, a server counts as available: it may be back. */
const SILENT_MS = 10 * 60_000;

interface Waiting {
  readonly priority: Priority;
  start(): void;
}

/** The mails of one organisation that this replica sends now. */
interface InProgress {
  /** Besides codes. */
  others: number;
  all: number;
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
  /** Called when a slot was freed. @param hasRoomAgain - whether its organisation had no room for queued mails before, and has some now. */
  readonly onFreed: (hasRoomAgain: boolean) => void;
}) {
  const { perOrganisation, maxSilent, clock, onFreed } = options;
  /** Of an organisation with nothing in progress, whose server answers. */
  const full: Room = { others: perOrganisation, all: perOrganisation + 1 };
  const organisations = new Map<string, InProgress>();
  /** The organisations whose servers did not answer the last attempt, and since when. */
  const silent = new Map<string, number>();

  const NONE: Room = { others: 0, all: 0 };
  const getInProgress = (orgId: string): Room => organisations.get(orgId) ?? NONE;

  const fits = ({ others, all }: Room, priority: Priority): boolean =>
    all > 0 && (priority === priorities.code || others > 0);

  const roomFor = (limit: Room, { others, all }: Room): Room => ({
    others: Math.max(0, limit.others - others),
    all: Math.max(0, limit.all - all),
  });

  /** The mails in progress of organisations whose servers do not answer. */
  const countSilent = (): number =>
    [...silent.keys()].reduce((sum, orgId) => sum + getInProgress(orgId).others, 0);

  /** The most queued mails at once of an organisation whose server does not answer. */
  const getSilentLimit = (): Room => ({ others: countSilent() < maxSilent ? 1 : 0, all: 2 });

  /** How many queued mails of an organisation may start now. */
  const getRoom = (orgId: string, silentLimit?: Room): Room =>
    roomFor(silent.has(orgId) ? (silentLimit ?? getSilentLimit()) : full, getInProgress(orgId));

  function open(orgId: string): InProgress {
    let found = organisations.get(orgId);
    if (!found) {
      found = { others: 0, all: 0, waiting: [] };
      organisations.set(orgId, found);
    }
    return found;
  }

  function occupy(orgId: string, priority: Priority): void {
    const found = open(orgId);
    found.all += 1;
    if (priority !== priorities.code) found.others += 1;
  }

  /** Starts the most urgent mail whose caller waits. @returns false when none could be started. */
  function startNext(orgId: string, { waiting }: InProgress): boolean {
    const room = roomFor(full, getInProgress(orgId));
    const next = waiting
      .filter(({ priority }) => fits(room, priority))
      .reduce<Waiting | undefined>(
        (first, one) => (first && first.priority <= one.priority ? first : one),
        undefined,
      );
    if (!next) return false;
    waiting.splice(waiting.indexOf(next), 1);
    occupy(orgId, next.priority);
    next.start();
    return true;
  }

  return {
    /** The room of an organisation with nothing in progress, whose server answers. */
    full,

    /** The room of the other organisations. */
    getRooms(): ReadonlyMap<string, Room> {
      for (const [orgId, since] of silent) if (clock() - since > SILENT_MS) silent.delete(orgId);
      const silentLimit = getSilentLimit();
      const named = [...organisations.keys(), ...silent.keys()];
      return new Map(named.map((orgId) => [orgId, getRoom(orgId, silentLimit)]));
    },

    /** Records whether the server of an organisation answered an attempt. */
    setAnswering(orgId: string, isAnswering: boolean): void {
      const wasSilent = silent.delete(orgId);
      if (!isAnswering) silent.set(orgId, clock());
      else if (wasSilent) onFreed(true);
    },

    /** Occupies a slot for a queued mail that was claimed within the room of its organisation. */
    occupy,

    /**
     * Waits for a slot.
     *
     * @param deadlineAt - in milliseconds of `performance.now()`.
     * @returns false when there is none by then.
     */
    acquire(orgId: string, priority: Priority, deadlineAt: number): Promise<boolean> {
      if (fits(roomFor(full, getInProgress(orgId)), priority)) {
        occupy(orgId, priority);
        return Promise.resolve(true);
      }
      const { waiting } = open(orgId);
      return new Promise((resolve) => {
        const one: Waiting = {
          priority,
          start() {
            clearTimeout(timer);
            resolve(true);
          },
        };
        const leave = (): void => {
          waiting.splice(waiting.indexOf(one), 1);
          resolve(false);
        };
        const timer = setTimeout(leave, Math.max(0, deadlineAt - performance.now()));
        waiting.push(one);
      });
    },

    /** Frees a slot. */
    release(orgId: string, priority: Priority): void {
      const found = open(orgId);
      const { others, all } = getRoom(orgId);
      found.all -= 1;
      if (priority !== priorities.code) found.others -= 1;
      const isStarted = startNext(orgId, found);
      if (found.all === 0 && found.waiting.length === 0) organisations.delete(orgId);
      onFreed(!isStarted && (others === 0 || all === 0));
    },
  };
}
