import type { PageWindow } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import type { RunItem } from './schemas.js';

/** A bounded count: no more than some hundreds are kept of each connector of an organisation. */
export const countRuns = (db: Prisma, orgId: string, connector: string): Promise<number> =>
  db.run.count({ where: { orgId, connector } });

/** Newest first. */
export async function findRuns(
  db: Prisma,
  orgId: string,
  connector: string,
  { isFromEnd, offset, count }: PageWindow,
): Promise<RunItem[]> {
  const rows = await db.run.findMany({
    where: { orgId, connector },
    orderBy: { id: isFromEnd ? 'asc' : 'desc' },
    skip: offset,
    take: count,
  });
  return (isFromEnd ? rows.toReversed() : rows).map((run) => ({
    runId: run.id,
    connector: run.connector,
    trigger: run.trigger,
    outcome: run.state,
    scheduledFor: run.scheduledFor.toISOString(),
    startedAt: run.startedAt?.toISOString() ?? null,
    finishedAt: run.finishedAt?.toISOString() ?? null,
    attempts: run.attempts,
    progress: run.progress,
    reason: run.reason,
    eventId: run.eventId,
  }));
}
