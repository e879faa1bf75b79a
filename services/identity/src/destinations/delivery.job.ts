import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import {
  type Claim,
  claimDestinations,
  failSurplusDeliveries,
  findDueDeliveries,
  findNewFacts,
  hastenDeliveries,
  type Outcome,
  storeOutcomes,
} from './claim.queries.js';
import { type DisableReason, toOutcomes, toParcels, toProgress } from './outcomes.js';
import { HASTENED_ATTEMPTS, OUTAGE_MS } from './schedule.js';
import type { Send } from './send.js';

/*
 * A replica claims a destination for a while, sends what is due and what has happened since, and stores after each few
 * requests what became of them and how far it is. A replica that dies loses nothing: what it had sent and not stored is sent
 * again, with the same id, once its claim has ended.
 *
 * A fact that a webhook does not accept waits as a delivery with its attempts, and the facts after it go on. A receiver of
 * logs gets everything in order: what it does not accept is sent again, and all else waits behind it; only a fact whose
 * content it refuses (400, 413) is passed over, which halving the batch finds. A destination that accepts nothing is asked
 * ever more rarely, with one request, until it does.
 */

const INTERVAL_MS = 1_000;
/** Longer than the requests between two stores, which renew the claim. */
const CLAIM_MS = 15_000;
/** After this time, others have their turn. */
const TURN_MS = 10_000;

/** The destinations that a replica sends to at the same time, and those of one organisation that all replicas send to. */
const lanes = [
  { isAccepting: true, total: 96, perOrganisation: 12 },
  { isAccepting: false, total: 32, perOrganisation: 4 },
] as const;

/** The requests to a webhook at the same time. */
const WEBHOOK_REQUESTS = 10;
/** How many of these requests repeat something, where there is something new as well. */
const REPEATED_REQUESTS = 5;
/** The number of facts in one batch of logs, and in one search for the facts that a destination wants. */
const MAX_FACTS = 200;
const MAX_BATCH_BYTES = 1_000_000;
/** The deliveries of a webhook that wait for another attempt. */
const MAX_WAITING = 1_000;

interface DeliveryDeps {
  readonly pool: pg.Pool;
  readonly send: Send;
  /** Disables a destination, and has its administrators informed. */
  readonly disable: (destination: Claim, reason: DisableReason) => Promise<void>;
  readonly countDeliveries: (form: string, state: Outcome['state'], count: number) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Creates the job that sends facts to destinations. Every replica runs it. */
export function createDeliveryJob(deps: DeliveryDeps) {
  const { pool, send, disable, countDeliveries, clock, log } = deps;
  const running = new Map(lanes.map((lane) => [lane, new Set<Promise<void>>()]));

  async function findNew(claim: Claim, max: number) {
    const { facts, isEnd } = await findNewFacts(pool, claim, {
      maxFacts: max,
      maxBytes: MAX_BATCH_BYTES,
      maxSearched: MAX_FACTS,
    });
    return {
      parcels: toParcels(claim.form, facts),
      position: facts.at(-1)?.position ?? claim.position,
      isEnd,
    };
  }

  /** Returns what is sent next, with the destination's place behind it. */
  async function findParcels(claim: Claim) {
    const { form, position, isAccepting, failures } = claim;
    const at = new Date(clock());
    if (form === 'logs') {
      const parcels = await findDueDeliveries(pool, claim, at, 1);
      return parcels.length > 0 ? { parcels, position, isEnd: false } : findNew(claim, MAX_FACTS);
    }
    const max = isAccepting ? WEBHOOK_REQUESTS : 1;
    // A destination that accepts nothing is sent something old and something new in turns: it may refuse the old alone.
    const reserved = isAccepting ? REPEATED_REQUESTS : 1 - (failures % 2);
    const due = await findDueDeliveries(pool, claim, at, max);
    const room = max - Math.min(due.length, reserved);
    const found = room > 0 ? await findNew(claim, room) : { parcels: [], position, isEnd: false };
    const repeated = due.slice(0, max - found.parcels.length);
    return {
      parcels: [...repeated, ...found.parcels],
      position: found.position,
      isEnd: found.isEnd && due.length < max && repeated.length === due.length,
    };
  }

  /**
   * Sends to a destination until there is no more, its turn is over, it accepts nothing, or the claim is lost.
   *
   * @returns whether it got any further.
   */
  async function serve(claimed: Claim, stopping: AbortSignal): Promise<boolean> {
    const endsAt = clock() + TURN_MS;
    let claim = claimed;
    for (;;) {
      const { parcels, position, isEnd } = await findParcels(claim);
      const results = await Promise.all(
        parcels.map(async (parcel) => {
          const { facts, factId, firstPosition } = parcel;
          const id = factId ?? `${claim.id}:${firstPosition}`;
          return { parcel, sent: facts.length > 0 ? await send(claim, facts, id) : undefined };
        }),
      );
      const now = clock();
      const { disableReason, ...after } = toProgress(claim, results, now);
      const isOver = isEnd || after.resumeAt !== null || now >= endsAt || stopping.aborted;
      const claimedUntil = isOver ? null : new Date(now + CLAIM_MS);
      const outcomes = toOutcomes(claim, results, now);
      if (!(await storeOutcomes(pool, claim, outcomes, { ...after, position, claimedUntil }))) return false;
      for (const { state } of outcomes) countDeliveries(claim.form, state, 1);
      if (after.failures === 0 && claim.failingSince && now - claim.failingSince.getTime() >= OUTAGE_MS)
        await hastenDeliveries(pool, claim.id, { now: new Date(now), maxAttempts: HASTENED_ATTEMPTS });
      const isMoreWaiting = !claim.isAccepting || outcomes.some(({ state }) => state === 'waiting');
      if (claim.form === 'webhook' && after.isAccepting && isMoreWaiting)
        await failSurplusDeliveries(pool, claim.id, MAX_WAITING);
      if (disableReason) {
        await disable(claim, disableReason);
        return false;
      }
      if (claimedUntil === null) return parcels.length > 0 || position !== claimed.position;
      claim = { ...claim, ...after, position, claimedUntil };
    }
  }

  async function claimLane(lane: (typeof lanes)[number], stopping: AbortSignal): Promise<void> {
    const busy = running.get(lane) ?? new Set();
    if (busy.size >= lane.total) return;
    const now = clock();
    const claims = await claimDestinations(pool, {
      now: new Date(now),
      isAccepting: lane.isAccepting,
      perOrganisation: lane.perOrganisation,
      limit: lane.total - busy.size,
      until: new Date(now + CLAIM_MS),
    });
    for (const claim of claims) {
      const serving = serve(claim, stopping)
        .catch((error: unknown) => {
          log.warn({ err: error, destination: claim.id }, 'failed to serve a destination of facts; retrying');
          return false;
        })
        .then((isFurther) => {
          busy.delete(serving);
          // Its place is free, and there may be more to send to it.
          if (isFurther) claiming.wake();
        });
      busy.add(serving);
    }
  }

  const claiming = createPeriodicTask({
    intervalMs: INTERVAL_MS,
    async run(stopping) {
      for (const lane of lanes) await claimLane(lane, stopping);
    },
    onError: (error) => {
      log.warn({ err: error }, 'failed to look for facts to send; retrying');
    },
  });
  return {
    start: claiming.start,
    wake: claiming.wake,
    async stop(): Promise<void> {
      await claiming.stop();
      await Promise.all([...running.values()].flatMap((busy) => [...busy]));
    },
  };
}
