import type { ListWindow } from '@platform/service-kit';
import type { RunState } from '../domain/run-state.js';
import type { Prisma } from './prisma.js';

export interface RunFilter {
  readonly orgId: string;
  readonly connector: string;
  /** Undefined matches any state. */
  readonly state: RunState | undefined;
}

const toWhere = ({ orgId, connector, state }: RunFilter) => ({
  orgId,
  connector,
  ...(state !== undefined && { state }),
});

/** Counts the runs; the history keeps only a few hundred of each connector of an organisation. */
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
  given: { readonly orgId: string; readonly connector: string; readonly runId: string },
): Promise<RunHistoryRow | null> =>
  db.run.findFirst({ where: { id: given.runId, orgId: given.orgId, connector: given.connector } });

/** Returns what the worker of a run logged, in order. */
export const findRunLog = (db: Prisma, runId: string) =>
  db.runLogLine.findMany({
    where: { runId },
    orderBy: { number: 'asc' },
    select: { at: true, message: true },
  });
