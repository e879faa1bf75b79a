import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import {
  type Claim,
  claimDestinations,
  findDueDeliveries,
  findNewFacts,
  hastenDeliveries,
  type NewFact,
  type Outcome,
  type Parcel,
  type Progress,
  storeOutcomes,
} from './claim.queries.js';
import {
  DISABLED_AFTER_MS,
  findNextAttempt,
  findResumption,
  HASTENED_ATTEMPTS,
  MAX_RETRY_AFTER_MS,
  OUTAGE_MS,
} from './schedule.js';
import { attemptFaults, type Send, type Sent } from './send.js';

/*
 * A replica claims a destination for a while, sends what is due and what has happened since, and stores after each few
 * requests what became of them and how far it is. A replica that dies loses nothing: what it had sent and not stored is sent
 * again, with the same id, once its claim has ended.
 *
 * What a webhook does not accept waits as a delivery with attempts of its own, and the facts after it go on. A receiver of
 * logs gets everything in order: what it does not accept is sent again, and all else waits behind it. A destination that
 * accepts nothing is asked ever more rarely, with one request, until it does.
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
/** The facts that are read, or sent as logs, at once. */
const MAX_FACTS = 200;
/** A webhook with so many deliveries that wait for another attempt gets no new ones. */
const MAX_WAITING = 1_000;
/** The attempts of a delivery that are kept. */
const MAX_ATTEMPTS_KEPT = 20;

export type DisableReason = 'failing' | 'gone';

interface DeliveryDeps {
  readonly pool: pg.Pool;
  readonly send: Send;
  /** Disables a destination, and has its administrators informed. */
  readonly disable: (destination: Claim, reason: DisableReason) => Promise<void>;
  readonly countDeliveries: (form: string, state: Outcome['state'], count: number) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Packs facts: each by itself for a webhook, all of them as logs. */
function toParcels(form: string, facts: readonly NewFact[]): Parcel[] {
  const wanted = facts.flatMap(({ event, ...fact }) => (event === null ? [] : [{ ...fact, event }]));
  const [first] = wanted;
  const last = wanted.at(-1);
  if (!first || !last) return [];
  const delivery = undefined;
  if (form === 'logs')
    return [
      {
        delivery,
        factId: null,
        type: null,
        firstPosition: first.position,
        lastPosition: last.position,
        facts: wanted.map(({ event }) => event),
      },
    ];
  return wanted.map(({ id, type, position, event }) => ({
    delivery,
    factId: id,
    type,
    firstPosition: position,
    lastPosition: position,
    facts: [event],
  }));
}

/** Returns what is stored of a parcel that was sent. */
function toOutcome(form: string, parcel: Parcel, sent: Sent, now: number): Outcome {
  const { delivery, facts, ...rest } = parcel;
  const attemptCount = (delivery?.attemptCount ?? 0) + 1;
  const nextAttemptAt = sent.isAccepted
    ? undefined
    : // The receiver of logs is asked again as often as it takes.
      form === 'logs'
      ? new Date(now)
      : sent.attempt.fault === attemptFaults.factDeleted
        ? undefined
        : findNextAttempt(attemptCount, now);
  return {
    ...rest,
    id: delivery?.id ?? uuidv7(),
    facts: facts.length,
    state: sent.isAccepted ? 'delivered' : nextAttemptAt ? 'waiting' : 'failed',
    attemptCount: Math.min(attemptCount, MAX_WAITING),
    attempts: [...(delivery?.attempts ?? []), sent.attempt].slice(-MAX_ATTEMPTS_KEPT),
    nextAttemptAt: nextAttemptAt ?? null,
    createdAt: delivery?.createdAt ?? new Date(now),
  };
}

/** Returns the state of a destination after requests to it; the same when there were none. */
function toProgress(
  { isAccepting, failures, failingSince }: Pick<Progress, 'isAccepting' | 'failures' | 'failingSince'>,
  sent: readonly Sent[],
  now: number,
): Pick<Progress, 'isAccepting' | 'failures' | 'failingSince' | 'resumeAt'> {
  if (sent.length === 0) return { isAccepting, failures, failingSince, resumeAt: null };
  const longestMs = Math.max(0, ...sent.map((one) => one.retryAfterMs ?? 0));
  const retryAfterMs = Math.min(longestMs, MAX_RETRY_AFTER_MS);
  const asked = retryAfterMs > 0 ? new Date(now + retryAfterMs) : null;
  if (sent.some(({ isAccepted }) => isAccepted))
    return { isAccepting: true, failures: 0, failingSince: null, resumeAt: asked };
  const resumption = findResumption(failures + 1, now);
  return {
    isAccepting: false,
    failures: failures + 1,
    failingSince: failingSince ?? new Date(now),
    resumeAt: asked && asked > resumption ? asked : resumption,
  };
}

/** Creates the job that sends facts to destinations. Every replica runs it. */
export function createDeliveryJob(deps: DeliveryDeps) {
  const { pool, send, disable, countDeliveries, clock, log } = deps;
  const running = new Map(lanes.map((lane) => [lane, new Set<Promise<void>>()]));

  async function sendParcel(claim: Claim, parcel: Parcel): Promise<Sent> {
    if (parcel.facts.length > 0)
      return send(claim, parcel.facts, parcel.factId ?? `${claim.id}:${parcel.firstPosition}`);
    const at = new Date(clock()).toISOString();
    const isOfNoUse = claim.form === 'logs';
    return {
      // Nothing is left of a range of logs.
      isAccepted: isOfNoUse,
      retryAfterMs: undefined,
      attempt: { at, status: null, fault: attemptFaults.factDeleted, durationMs: 0 },
    };
  }

  /** Returns what is due, and else the facts after the destination's place with the place behind them. */
  async function findParcels(claim: Claim, position: string, max: number) {
    const due = await findDueDeliveries(pool, claim, new Date(clock()), max);
    if (due.length > 0) return { parcels: due, position, isEnd: false };
    const isWebhook = claim.form === 'webhook';
    const facts = await findNewFacts(pool, claim, position, {
      maxWaiting: isWebhook ? MAX_WAITING : 1,
      limit: MAX_FACTS,
    });
    const all = toParcels(claim.form, facts);
    const parcels = all.slice(0, max);
    const isCut = parcels.length < all.length;
    const last = isCut ? parcels.at(-1)?.lastPosition : facts.at(-1)?.position;
    return { parcels, position: last ?? position, isEnd: !isCut && facts.length < MAX_FACTS };
  }

  /**
   * Sends to a destination until there is no more, its turn is over, or it accepts nothing.
   *
   * @returns whether it got any further.
   */
  async function serve(claimed: Claim, stopping: AbortSignal): Promise<boolean> {
    const endsAt = clock() + TURN_MS;
    let claim = claimed;
    for (;;) {
      const max = claim.isAccepting ? WEBHOOK_REQUESTS : 1;
      const { parcels, position, isEnd } = await findParcels(claim, claim.position, max);
      const sent = await Promise.all(parcels.map((parcel) => sendParcel(claim, parcel)));
      const now = clock();
      const after = toProgress(claim, sent, now);
      const isOver = isEnd || after.resumeAt !== null || now >= endsAt || stopping.aborted;
      const claimedUntil = isOver ? null : new Date(now + CLAIM_MS);
      const outcomes = parcels.map((parcel, index) =>
        toOutcome(claim.form, parcel, sent[index] as Sent, now),
      );
      await storeOutcomes(pool, claim, outcomes, { ...after, position, claimedUntil });
      for (const { state } of outcomes) countDeliveries(claim.form, state, 1);
      if (after.failures === 0 && claim.failingSince && now - claim.failingSince.getTime() >= OUTAGE_MS)
        await hastenDeliveries(pool, claim.id, { now: new Date(now), maxAttempts: HASTENED_ATTEMPTS });
      if (sent.some(({ attempt }) => attempt.status === 410)) await disable(claim, 'gone');
      else if (after.failingSince !== null && now - after.failingSince.getTime() >= DISABLED_AFTER_MS)
        await disable(claim, 'failing');
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
