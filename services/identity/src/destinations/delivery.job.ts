import { assignPositions } from '@platform/events';
import { createBatcher, createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import {
  type Claim,
  claimDestinations,
  failSurplusDeliveries,
  findDueDeliveries,
  findNewFacts,
  findNextFacts,
  hastenDeliveries,
  matchSubscriptions,
  type Outcome,
  type DeliveryBatch,
  type Served,
  storeOutcomes,
} from './claim.sql.js';
import { type DisableReason, type Result, toOutcomes, toBatches, toProgress } from './outcomes.js';
import { HASTENED_ATTEMPTS, OUTAGE_MS } from './schedule.js';
import { type SendContext, sendFacts } from './send.js';

/*
 * A replica claims a destination for a while, sends what is due and what has happened since, and stores after each few
 * requests what became of them and how far it is. A replica that dies loses nothing: what it had sent and not stored is sent
 * again, with the same id, once its claim has ended.
 *
 * A fact that a webhook does not accept waits as a delivery with its attempts, and the facts after it go on. A receiver of
 * logs gets everything in order: what it does not accept is sent again, and all else waits behind it; only a fact whose
 * content it refuses (400, 413) is passed over, which halving the batch finds. For a destination that accepts nothing, the job
 * backs off, with one request at a time, until it does.
 *
 * A subscription gets one event after the other, in order. What each is, and whether its owner may see it, is asked
 * immediately before it is sent.
 */

const INTERVAL_MS = 1_000;
/** Longer than the requests between two stores, which renew the claim. */
const CLAIM_MS = 15_000;
/** After this time, others have their turn. */
const TURN_MS = 10_000;

/**
 * The destinations that a replica sends to at the same time, and those of one organisation that all replicas send to.
 * Subscriptions, of which members can have many, delay no destination of an administrator.
 */
const concurrencyLimits = [
  { areSubscriptions: false, isAccepting: true, total: 96, perOrganisation: 12 },
  { areSubscriptions: false, isAccepting: false, total: 32, perOrganisation: 4 },
  { areSubscriptions: true, isAccepting: true, total: 96, perOrganisation: 48 },
  { areSubscriptions: true, isAccepting: false, total: 32, perOrganisation: 4 },
] as const;

/** The destinations whose queries are one statement. */
const MAX_BATCH = 50;
const MAX_IN_FLIGHT = 2;

/** How often the facts of subscriptions are looked for, while there are subscriptions. */
const MATCH_MS = 250;
/** So many searches look at all idle subscriptions once, also when there are no new facts: a replica may have died. */
const SEARCHES_TO_ALL = 40;
/** The position before all facts. */
const NOTHING = '-1';
/** The facts that get their position in one search. */
const MAX_POSITIONS = 500;

/** The requests to a webhook at the same time. */
const WEBHOOK_REQUESTS = 10;
/** How many of these requests repeat something, where there is something new as well. */
const REPEATED_REQUESTS = 5;
/** The number of facts in one batch of logs, and in one search for the facts that a destination wants. */
const MAX_FACTS = 200;
const MAX_BATCH_BYTES = 1_000_000;
/** The deliveries of a webhook that wait for another attempt. */
const MAX_WAITING = 1_000;

/** Why nothing more is sent to a subscription. */
type EndReason = 'expired' | 'unauthorized';

/** The event that a fact is for a subscription: nothing where its owner is not to see it. */
type SubscribedEvent = { readonly content: string | undefined } | { readonly endReason: EndReason };

/** Decides what is sent of a fact, at the time when it is sent. @param fact - as JSON. */
export type ToSubscribedEvent = (claim: Claim, fact: string, position: string) => Promise<SubscribedEvent>;

interface DeliveryContext extends SendContext {
  readonly pool: pg.Pool;
  readonly toSubscribedEvent: ToSubscribedEvent;
  /** Disables a destination, and has its administrators informed. */
  readonly disable: (destination: Claim, reason: DisableReason) => Promise<void>;
  readonly countDeliveries: (form: string, state: Outcome['state'], count: number) => void;
  readonly log: Logger;
}

/** Many subscriptions have little to send each, so that what they need is read and stored together. */
function createBatchers(pool: pg.Pool) {
  const batching = { maxBatch: MAX_BATCH, maxInFlight: MAX_IN_FLIGHT };
  return {
    findNext: createBatcher({
      toKey: (claim: Claim) => claim.id,
      load: (claims) => findNextFacts(pool, claims, MAX_FACTS),
      ...batching,
    }),
    store: createBatcher({
      toKey: ({ claim }: Served) => claim.id,
      load: (served) => storeOutcomes(pool, served),
      ...batching,
    }),
  };
}

interface ServeContext extends DeliveryContext, Readonly<ReturnType<typeof createBatchers>> {
  /** Notes that a subscription has nothing more to send. */
  readonly onIdle: () => void;
}

async function findNew({ pool }: DeliveryContext, claim: Claim, max: number) {
  const { facts, isEnd } = await findNewFacts(pool, claim, {
    maxFacts: max,
    maxBytes: MAX_BATCH_BYTES,
    maxSearched: MAX_FACTS,
  });
  return {
    batches: toBatches(claim.form, facts),
    position: facts.at(-1)?.position ?? claim.position,
    isEnd,
  };
}

/** Returns what is sent next, with the destination's place behind it. */
async function findBatches(ctx: ServeContext, claim: Claim) {
  const { form, position, isAccepting, failures } = claim;
  const at = new Date(ctx.clock());
  if (form === 'logs') {
    const batches = await findDueDeliveries(ctx.pool, claim, at, 1);
    return batches.length > 0 ? { batches, position, isEnd: false } : findNew(ctx, claim, MAX_FACTS);
  }
  if (claim.subscription) {
    // Nothing waits unless the last request was not accepted.
    const batches = failures > 0 ? await findDueDeliveries(ctx.pool, claim, at, 1) : [];
    if (batches.length > 0) return { batches, position, isEnd: false };
    const { fact, readTo, isEnd } = await ctx.findNext(claim);
    return { batches: toBatches(form, fact ? [fact] : []), position: readTo, isEnd };
  }
  const max = isAccepting ? WEBHOOK_REQUESTS : 1;
  // A destination that accepts nothing is sent something old and something new in turns: it may refuse the old alone.
  const reserved = isAccepting ? REPEATED_REQUESTS : 1 - (failures % 2);
  const due = await findDueDeliveries(ctx.pool, claim, at, max);
  const room = max - Math.min(due.length, reserved);
  const found = room > 0 ? await findNew(ctx, claim, room) : { batches: [], position, isEnd: false };
  const repeated = due.slice(0, max - found.batches.length);
  return {
    batches: [...repeated, ...found.batches],
    position: found.position,
    isEnd: found.isEnd && due.length < max && repeated.length === due.length,
  };
}

/** @returns why the subscription has ended, or the result; undefined where there is nothing to send. */
async function sendBatch(
  ctx: DeliveryContext,
  claim: Claim,
  batch: DeliveryBatch,
): Promise<Result | EndReason | undefined> {
  const { facts, factId, firstPosition } = batch;
  const id = factId ?? `${claim.id}:${firstPosition}`;
  const [fact] = facts;
  if (fact === undefined) return { batch, sent: undefined };
  if (!claim.subscription) return { batch, sent: await sendFacts(ctx, claim, facts, id) };
  const event = await ctx.toSubscribedEvent(claim, fact, firstPosition);
  if ('endReason' in event) return event.endReason;
  if (event.content !== undefined) return { batch, sent: await sendFacts(ctx, claim, [event.content], id) };
  // What waited, and is not to be seen any more, is given up.
  return batch.delivery && { batch, sent: undefined };
}

/**
 * Sends to a destination until there is no more, its turn is over, it accepts nothing, or the claim is lost.
 *
 * @returns whether it got any further.
 */
async function serve(ctx: ServeContext, claimed: Claim, stopping: AbortSignal): Promise<boolean> {
  const endsAt = ctx.clock() + TURN_MS;
  let claim = claimed;
  for (;;) {
    const { batches, position, isEnd } = await findBatches(ctx, claim);
    const given = await Promise.all(batches.map((batch) => sendBatch(ctx, claim, batch)));
    const endReason = given.find((one) => typeof one === 'string');
    if (endReason) {
      // One that has expired may have been refreshed meanwhile.
      if (endReason !== 'expired') await ctx.disable(claim, endReason);
      return false;
    }
    const results = given.filter((one): one is Result => typeof one === 'object');
    const now = ctx.clock();
    const { disableReason, ...after } = toProgress(claim, results, now);
    const isOver = isEnd || after.resumeAt !== null || now >= endsAt || stopping.aborted;
    const claimedUntil = isOver ? null : new Date(now + CLAIM_MS);
    const outcomes = toOutcomes(claim, results, now);
    const isDue = !claim.subscription || !isEnd || after.resumeAt !== null;
    const progress = { ...after, position, claimedUntil, isDue };
    if (!(await ctx.store({ claim, outcomes, progress }))) return false;
    // Facts that came meanwhile were looked at for the subscriptions that were idle then.
    if (!isDue) ctx.onIdle();
    for (const { state } of outcomes) ctx.countDeliveries(claim.form, state, 1);
    if (after.failures === 0 && claim.failingSince && now - claim.failingSince.getTime() >= OUTAGE_MS)
      await hastenDeliveries(ctx.pool, claim.id, { now: new Date(now), maxAttempts: HASTENED_ATTEMPTS });
    const isMoreWaiting = !claim.isAccepting || outcomes.some(({ state }) => state === 'waiting');
    if (claim.form === 'webhook' && after.isAccepting && isMoreWaiting)
      await failSurplusDeliveries(ctx.pool, claim.id, MAX_WAITING);
    if (disableReason) {
      await ctx.disable(claim, disableReason);
      return false;
    }
    if (claimedUntil === null) return isDue && (batches.length > 0 || position !== claimed.position);
    claim = { ...claim, ...after, position, claimedUntil };
  }
}

/** Creates the job that sends facts to destinations. Every replica runs it. */
export function createDeliveryJob(deps: DeliveryContext) {
  const { pool, clock, log } = deps;
  const running = new Map(concurrencyLimits.map((limits) => [limits, new Set<Promise<void>>()]));

  /** Whether there are subscriptions, and up to where facts were looked at for the idle ones. */
  let areAny = true;
  let searches = 0;
  let matchedTo = NOTHING;
  let areNewIdle = false;

  const ctx: ServeContext = {
    ...deps,
    ...createBatchers(pool),
    onIdle: () => {
      areNewIdle = true;
    },
  };

  async function claimWithin(
    limits: (typeof concurrencyLimits)[number],
    stopping: AbortSignal,
  ): Promise<void> {
    const busy = running.get(limits) ?? new Set();
    if (busy.size >= limits.total) return;
    const now = clock();
    const claims = await claimDestinations(pool, {
      now: new Date(now),
      isAccepting: limits.isAccepting,
      areSubscriptions: limits.areSubscriptions,
      perOrganisation: limits.perOrganisation,
      limit: limits.total - busy.size,
      until: new Date(now + CLAIM_MS),
    });
    for (const claim of claims) {
      const serving = serve(ctx, claim, stopping)
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
      await Promise.all(concurrencyLimits.map((limits) => claimWithin(limits, stopping)));
    },
    onError: (error) => {
      log.warn({ err: error }, 'failed to look for facts to send; retrying');
    },
  });
  const matching = createPeriodicTask({
    intervalMs: MATCH_MS,
    async run() {
      searches += 1;
      if (!areAny && searches % (INTERVAL_MS / MATCH_MS) !== 0) return;
      if (areAny) await assignPositions(pool, MAX_POSITIONS);
      const after = areNewIdle || searches % SEARCHES_TO_ALL === 0 ? NOTHING : matchedTo;
      areNewIdle = false;
      const { areDue, isPartial, head, ...found } = await matchSubscriptions(pool, new Date(clock()), after);
      ({ areAny } = found);
      matchedTo = isPartial ? NOTHING : head;
      if (areDue) claiming.wake();
    },
    onError: (error) => {
      log.warn({ err: error }, 'failed to look for the facts of subscriptions; retrying');
    },
  });
  return {
    start(): void {
      claiming.start();
      matching.start();
    },
    wake: claiming.wake,
    async stop(): Promise<void> {
      await matching.stop();
      await claiming.stop();
      await Promise.all([...running.values()].flatMap((busy) => [...busy]));
    },
  };
}
