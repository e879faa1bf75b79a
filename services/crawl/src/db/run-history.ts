import type { ListWindow } from '@platform/service-kit';
import { validate as isUuid } from 'uuid';
import type { InstanceKey, RunKey } from '../domain/instance-key.js';
import type { RunState } from '../domain/run-state.js';
import type { Prisma } from './prisma.js';

export interface RunFilter extends InstanceKey {
  /** Undefined matches any state. */
  readonly state: RunState | undefined;
  /** Part of a reason or a name, or an id; undefined matches any. */
  readonly text: string | undefined;
  /** The endpoints that match the text. */
  readonly endpointIds: readonly string[];
}

function toTextWhere(text: string, endpointIds: readonly string[]) {
  if (isUuid(text)) return { id: text };
  const found = { contains: text.replaceAll(/[\\%_]/g, String.raw`\$&`), mode: 'insensitive' } as const;
  return {
    OR: [
      { reason: found },
      { requestedByName: found },
      { claimedBy: found },
      { endpointId: { in: [...endpointIds] } },
    ],
  };
}

const toWhere = ({ orgId, connector, instance, state, text, endpointIds }: RunFilter) => ({
  orgId,
  connector,
  instance,
  ...(state !== undefined && { state }),
  ...(text !== undefined && toTextWhere(text, endpointIds)),
});

/** Counts the runs; the history keeps only a few hundred of each instance. */
export const countRuns = (db: Prisma, filter: RunFilter): Promise<number> =>
  db.run.count({ where: toWhere(filter) });

/** Returns the rows newest first. */
export async function findRuns(
  db: Prisma,
  filter: RunFilter,
  { isFromEnd, offset, count, beforeId }: ListWindow,
) {
  const rows = await db.run.findMany({
    where: { ...toWhere(filter), ...(beforeId !== undefined && { id: { lt: beforeId } }) },
    orderBy: { id: isFromEnd ? 'asc' : 'desc' },
    skip: offset,
    take: count,
  });
  return isFromEnd ? rows.toReversed() : rows;
}

export type RunHistoryRow = Awaited<ReturnType<typeof findRuns>>[number];

export const findRun = (
  db: Prisma,
  { runId: id, orgId, connector, instance }: RunKey,
): Promise<RunHistoryRow | null> => db.run.findFirst({ where: { id, orgId, connector, instance } });

/** Finds a run whose connector is not known. */
export const findRunById = (
  db: Prisma,
  { runId: id, orgId }: Pick<RunKey, 'runId' | 'orgId'>,
): Promise<RunHistoryRow | null> => db.run.findFirst({ where: { id, orgId } });

/** Returns what the worker of a run logged, in order. */
export const findRunLog = (db: Prisma, runId: string) =>
  db.runLogLine.findMany({
    where: { runId },
    orderBy: { number: 'asc' },
    select: { at: true, message: true },
  });
