import { v7 as uuidv7 } from 'uuid';
import type { Claim, NewFact, Outcome, DeliveryBatch, Progress } from './claim.sql.js';
import {
  DISABLED_AFTER_MS,
  findNextAttempt,
  findResumption,
  MAX_OUTAGE_PAUSES,
  MAX_RETRY_AFTER_MS,
} from './schedule.js';
import { attemptFaults, type Sent } from './send.js';

/* The effects of the answers of a destination on its deliveries and on the destination. */

/** Why a destination is disabled, or a subscription ends. */
export type DisableReason = 'failing' | 'gone' | 'unauthorized';

/** A batch with what became of it; without, when nothing was sent because its facts had been deleted. */
export interface Result {
  readonly batch: DeliveryBatch;
  readonly sent: Sent | undefined;
}

/** The attempts of a delivery that are kept. */
const MAX_ATTEMPTS_KEPT = 20;
/**
 * An event that a receiver refuses so often is given up, after about ten minutes: the events of a subscription come in order, so
 * that the others wait behind it.
 */
const MAX_REFUSALS = 8;
/** The attempts of a receiver of logs have no limit, but are counted no further. */
const MAX_COUNTED_ATTEMPTS = 1_000;

/** Packs facts: each by itself for a webhook, all of them as logs. */
export function toBatches(form: string, facts: readonly NewFact[]): DeliveryBatch[] {
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
        positions: wanted.map(({ position }) => position),
      },
    ];
  return wanted.map(({ id, type, position, event }) => ({
    delivery,
    factId: id,
    type,
    firstPosition: position,
    lastPosition: position,
    facts: [event],
    positions: [position],
  }));
}

/** Whether a receiver of logs refuses the content, or its size, so that the same request will not succeed later either. */
const isContentRefused = (form: string, sent: Sent): boolean =>
  form === 'logs' && !sent.isAccepted && (sent.attempt.status === 400 || sent.attempt.status === 413);

/** Whether a receiver refuses an event, rather than being unavailable. */
const isRefusal = ({ attempt: { status } }: Sent): boolean =>
  status !== null && status >= 400 && status < 500 && status !== 408 && status !== 429;

const isSplit = (form: string, { batch, sent }: Result): boolean =>
  sent !== undefined && isContentRefused(form, sent) && batch.facts.length > 1;

/** Halves logs, so that the facts that are refused are found. */
function split({ delivery, facts, positions, ...batch }: DeliveryBatch): DeliveryBatch[] {
  const middle = Math.ceil(facts.length / 2);
  return [
    {
      ...batch,
      delivery,
      facts: facts.slice(0, middle),
      positions: positions.slice(0, middle),
      lastPosition: positions[middle - 1] as string,
    },
    {
      ...batch,
      delivery: delivery && { ...delivery, id: uuidv7() },
      facts: facts.slice(middle),
      positions: positions.slice(middle),
      firstPosition: positions[middle] as string,
    },
  ];
}

/** Returns when a delivery that was not accepted is sent again; undefined when it is not. */
function findNext(form: string, sent: Sent, pauses: number, isSoleFact: boolean, now: number) {
  if (form === 'subscription')
    return sent.attempt.status === 413 || (isRefusal(sent) && pauses >= MAX_REFUSALS)
      ? undefined
      : new Date(now);
  // The receiver of logs is asked again as often as it takes.
  if (form === 'logs') return isSoleFact && isContentRefused(form, sent) ? undefined : new Date(now);
  const next = findNextAttempt(pauses, now);
  if (!next) return undefined;
  const retryAfterMs = Math.min(sent.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
  return new Date(Math.max(next.getTime(), now + retryAfterMs));
}

function toOutcome(
  { form, failures }: Pick<Claim, 'form' | 'failures'>,
  isCounted: boolean,
  { batch, sent }: Result,
  now: number,
): Outcome {
  const { delivery, factId, type, facts, firstPosition, lastPosition } = batch;
  const attemptsBefore = delivery?.attemptCount ?? 0;
  const attemptCount = isCounted ? attemptsBefore + 1 : Math.max(attemptsBefore, 1);
  // The pauses grow all the same: the attempts of a single refused fact must not delay the next facts.
  const pauses = isCounted ? attemptCount : Math.max(attemptCount, Math.min(failures + 1, MAX_OUTAGE_PAUSES));
  const nextAttemptAt =
    sent && !sent.isAccepted ? findNext(form, sent, pauses, facts.length === 1, now) : undefined;
  const at = new Date(now).toISOString();
  const attempt = sent?.attempt ?? { at, status: null, fault: attemptFaults.factDeleted, durationMs: 0 };
  return {
    id: delivery?.id ?? uuidv7(),
    factId,
    type,
    facts: facts.length,
    firstPosition,
    lastPosition,
    state: sent?.isAccepted ? 'delivered' : nextAttemptAt ? 'waiting' : 'failed',
    attemptCount: Math.min(attemptCount, MAX_COUNTED_ATTEMPTS),
    attempts: [...(delivery?.attempts ?? []), attempt].slice(-MAX_ATTEMPTS_KEPT),
    nextAttemptAt: nextAttemptAt ?? null,
    createdAt: delivery?.createdAt ?? new Date(now),
  };
}

/**
 * Returns what is stored of batches that were sent at the same time. An attempt counts only when the destination has accepted
 * something, in this round or in the one before: no fact is given up because its receiver is unavailable. For a subscription,
 * which is sent one event at a time, an attempt counts when the receiver refuses the event.
 */
export function toOutcomes(
  claim: Pick<Claim, 'form' | 'isAccepting' | 'failures'>,
  results: readonly Result[],
  now: number,
): Outcome[] {
  const { form, isAccepting } = claim;
  const isCounted =
    form === 'subscription'
      ? results.some(({ sent }) => sent && isRefusal(sent))
      : isAccepting || results.some(({ sent }) => sent?.isAccepted);
  return results
    .flatMap((result) =>
      isSplit(form, result)
        ? split(result.batch).map((batch) => ({ batch, sent: result.sent, isHalf: true }))
        : [{ ...result, isHalf: false }],
    )
    .map(({ isHalf, ...result }) => {
      const outcome = toOutcome(claim, isCounted, result, now);
      return isHalf ? { ...outcome, state: 'waiting', nextAttemptAt: new Date(now) } : outcome;
    });
}

type Judgement = Pick<Progress, 'isAccepting' | 'failures' | 'failingSince' | 'resumeAt'> & {
  readonly disableReason: DisableReason | undefined;
};

/** Returns the state of a destination after requests to it; the same when there were none, or logs are sent in halves. */
export function toProgress(
  {
    form,
    isAccepting,
    failures,
    failingSince,
  }: Omit<Judgement, 'resumeAt' | 'disableReason'> & { form: string },
  results: readonly Result[],
  now: number,
): Judgement {
  const counted = results.flatMap((result) => (result.sent && !isSplit(form, result) ? [result.sent] : []));
  const disableReason = counted.some(({ attempt }) => attempt.status === 410) ? 'gone' : undefined;
  if (counted.length === 0) return { isAccepting, failures, failingSince, resumeAt: null, disableReason };
  if (counted.some(({ isAccepted }) => isAccepted))
    return { isAccepting: true, failures: 0, failingSince: null, resumeAt: null, disableReason };
  const retryAfterMs = Math.max(0, ...counted.map((sent) => sent.retryAfterMs ?? 0));
  const resumption = findResumption(failures + 1, now).getTime();
  const since = failingSince ?? new Date(now);
  return {
    isAccepting: false,
    failures: failures + 1,
    failingSince: since,
    resumeAt: new Date(Math.max(resumption, now + Math.min(retryAfterMs, MAX_RETRY_AFTER_MS))),
    disableReason: disableReason ?? (now - since.getTime() >= DISABLED_AFTER_MS ? 'failing' : undefined),
  };
}
