import type { PastFault } from './faults.js';
import type { Operation } from './history.js';
import { findViolation, type RegisterOperation } from './register.js';
import type { Found } from './responses.js';

/** The kinds of the operations that are checked. */
export const TOKEN = {
  use: 'token: use',
  useOnceRevoked: 'token: use once revoked',
  revoke: 'token: revoke',
};
export const SCHEDULE = { write: 'schedule: replace', read: 'schedule: read' };
/** The kind of the requests that look into what is stored. */
export const RECKONING = 'reckoning';
export const WORK = { claim: 'work: claim', heartbeat: 'work: heartbeat', finish: 'work: finish' };

/** What a claim has read, and what a report under it has written. */
export interface CheckpointValue {
  /** The number of the claim, each of which has a lease of its own. */
  readonly claim: number;
  readonly checkpoint: number | null;
}

export interface Finding {
  readonly kind: (typeof FINDING_KINDS)[number];
  readonly object: string;
  readonly at: number;
  readonly text: string;
}
export const FINDING_KINDS = [
  'admitted late',
  'refused early',
  'not linearizable',
  'stored without a lease',
  'out of order',
  'unexplained failure',
] as const;

/** After so long, requests must succeed again. Failures before that belong to the fault. */
const RECOVERY_BOUND_MS = 15_000;

/** Checks the operations on each object against each other, and the order of events. */
export function checkHistory(
  operations: readonly Operation[],
  faults: readonly PastFault[],
  { feed, topic }: Pick<Found, 'feed' | 'topic'>,
): readonly Finding[] {
  const byObject = new Map<string, Operation[]>();
  for (const operation of operations) {
    const { object } = operation;
    if (object !== undefined) byObject.set(object, [...(byObject.get(object) ?? []), operation]);
  }
  const objects = [...byObject].flatMap(([object, own]) => [
    ...checkToken(object, own),
    ...checkRegister(object, own.filter(isOfSchedule).map(toScheduleOperation)),
    ...checkRegister(object, own.filter(isOfCheckpoint).map(toCheckpointOperation)),
    ...checkLeases(object, own.filter(isOfCheckpoint)),
  ]);
  return [...objects, ...checkOrder(feed, topic), ...findUnexplained(operations, faults)];
}

/**
 * A token is active until a revocation was confirmed. While one is under way, or its outcome isn't known, it may be admitted
 * here and refused there.
 */
function checkToken(object: string, operations: readonly Operation[]): Finding[] {
  const uses = operations.filter(({ kind }) => kind === TOKEN.use || kind === TOKEN.useOnceRevoked);
  const revocations = operations.filter(({ kind }) => kind === TOKEN.revoke);
  const begun = Math.min(...revocations.map(({ startedAt }) => startedAt));
  const confirmed = Math.min(
    ...revocations.filter(({ outcome }) => outcome === 'ok').map(({ endedAt }) => endedAt),
  );
  const late = uses.filter(({ outcome, startedAt }) => outcome === 'ok' && startedAt > confirmed);
  const early = uses.filter(({ status, endedAt }) => status === 401 && endedAt < begun);
  return [
    ...late.map(({ startedAt: at }) => ({
      kind: 'admitted late' as const,
      object,
      at,
      text: `admitted ${(at - confirmed).toFixed(0)} ms after its revocation was confirmed`,
    })),
    ...early.map(({ startedAt: at }) => ({
      kind: 'refused early' as const,
      object,
      at,
      text: 'refused before its revocation began',
    })),
  ];
}

const isOfSchedule = ({ kind }: Operation): boolean => kind === SCHEDULE.read || kind === SCHEDULE.write;
const isOfCheckpoint = ({ kind, status }: Operation): boolean =>
  Object.values(WORK).includes(kind) && !(kind === WORK.claim && status !== 200);

function toScheduleOperation({ kind, ...rest }: Operation): RegisterOperation {
  return { ...rest, value: rest.value, type: kind === SCHEDULE.read ? 'read' : 'write' };
}

function toCheckpointOperation({ kind, value, ...rest }: Operation): RegisterOperation {
  const { checkpoint } = value as CheckpointValue;
  return { ...rest, value: checkpoint, type: kind === WORK.claim ? 'read' : 'write' };
}

function checkRegister(object: string, operations: readonly RegisterOperation[]): Finding[] {
  // Without a first read, nobody knows what it held before.
  const initial = operations.find(({ type, outcome }) => type === 'read' && outcome === 'ok')?.value;
  const violation = findViolation(operations, initial);
  if (violation === undefined) return [];
  const { type, value, startedAt: at, endedAt } = violation;
  const text = `the ${type} of ${JSON.stringify(value)} that took ${(endedAt - at).toFixed(0)} ms fits no order of the operations`;
  return [{ kind: 'not linearizable', object, at, text }];
}

/** Once a later claim was answered, nothing is stored any more under an earlier one. */
function checkLeases(object: string, operations: readonly Operation[]): Finding[] {
  const numberOf = ({ value }: Operation): number => (value as CheckpointValue).claim;
  const claims = new Map(
    operations.filter(({ kind }) => kind === WORK.claim).map((claim) => [numberOf(claim), claim]),
  );
  return operations.flatMap((report) => {
    const own = claims.get(numberOf(report));
    if (report.kind === WORK.claim || report.outcome !== 'ok' || own === undefined) return [];
    const later = [...claims.values()].find(
      (claim) => claim.startedAt > own.endedAt && claim.endedAt < report.startedAt,
    );
    if (later === undefined) return [];
    const text = `${report.kind} of claim ${numberOf(own)} was stored after claim ${numberOf(later)}`;
    return [{ kind: 'stored without a lease' as const, object, at: report.startedAt, text }];
  });
}

/** The events of a key have the same order in Kafka, where first copies count, as in the feed. */
function checkOrder(feed: Found['feed'], topic: Found['topic']): Finding[] {
  const [inFeed, inTopic] = [groupIds(feed), groupIds(topic)];
  return [...inFeed].flatMap(([key, ids]) => {
    const known = new Set(ids);
    const published = new Set(inTopic.get(key));
    const expected = ids.filter((id) => published.has(id));
    const actual = [...published].filter((id) => known.has(id));
    const at = expected.findIndex((id, index) => id !== actual[index]);
    if (at < 0) return [];
    const text = `Kafka has event ${actual[at]} where the feed has ${expected[at]}`;
    return [{ kind: 'out of order' as const, object: `events of ${key}`, at: 0, text }];
  });
}

function groupIds(events: Found['feed']): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { key, eventId } of events) groups.set(key, [...(groups.get(key) ?? []), eventId]);
  return groups;
}

const isFailure = ({ status }: Operation): boolean => status === 0 || status >= 500;

/** Finds requests that failed while no fault was active, nor the platform recovering from one. */
function findUnexplained(operations: readonly Operation[], faults: readonly PastFault[]): Finding[] {
  return operations
    .filter(
      (operation) =>
        isFailure(operation) &&
        !faults.some(
          ({ startedAt, mendedAt }) =>
            operation.endedAt >= startedAt && operation.startedAt <= mendedAt + RECOVERY_BOUND_MS,
        ),
    )
    .map(({ kind, status, code, startedAt: at }) => ({
      kind: 'unexplained failure',
      object: kind,
      at,
      text: status === 0 ? `no response (${code})` : `${status} ${code}`,
    }));
}

export interface Recovery {
  readonly fault: PastFault;
  readonly failed: number;
  /** From the end of the fault until the last kind of request succeeds again; undefined when one never did. */
  readonly recoveredMs: number | undefined;
}

/** Measures, for each fault, how long requests failed until the next one. */
export function measureRecovery(
  faults: readonly PastFault[],
  operations: readonly Operation[],
): readonly Recovery[] {
  // Looking into what is stored is no job of a caller.
  const jobs = operations.filter(({ kind }) => kind !== RECKONING);
  return faults.map((fault, index) => {
    const until = faults[index + 1]?.startedAt ?? Number.POSITIVE_INFINITY;
    const failed = jobs.filter(
      (one) => isFailure(one) && one.endedAt >= fault.startedAt && one.startedAt < until,
    );
    const backAt = [...new Set(failed.map(({ kind }) => kind))].map((kind) => {
      const last = Math.max(...failed.filter((one) => one.kind === kind).map((one) => one.startedAt));
      const after = jobs.filter((one) => one.kind === kind && one.startedAt > last && !isFailure(one));
      return after.length === 0 ? undefined : Math.min(...after.map(({ endedAt }) => endedAt));
    });
    const isBack = backAt.every((at): at is number => at !== undefined);
    return {
      fault,
      failed: failed.length,
      recoveredMs: isBack ? Math.max(0, ...backAt.map((at) => at - fault.mendedAt)) : undefined,
    };
  });
}
