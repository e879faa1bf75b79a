import type { Transaction } from '../../prisma.js';

export interface EndedGrant {
  readonly id: string;
  readonly orgId: string;
  readonly userId: string;
  readonly clientId: string;
}

/** Revokes grants, which ends all of their tokens at once. @returns the grants that were still active. */
export const revokeGrants = (
  db: Transaction,
  {
    ids,
    orgId,
    userId,
    by,
    reason,
    at,
  }: {
    readonly ids: readonly string[];
    /** Undefined matches any organisation; only the protocol itself revokes without one. */
    readonly orgId: string | undefined;
    /** Undefined matches any member. */
    readonly userId: string | undefined;
    readonly by: string | null;
    readonly reason: string | null;
    readonly at: Date;
  },
): Promise<EndedGrant[]> =>
  // Joined with the list, since the planner may otherwise compare each connection of the organisation with all of it.
  db.$queryRaw`
    update oauth_grants g
    set revoked_at = ${at.toISOString()}::timestamptz, revoked_by = ${by}::uuid, revoked_reason = ${reason}
    from unnest(${[...ids]}::uuid[]) as wanted (id)
    where g.id = wanted.id and g.revoked_at is null and g.org_id = coalesce(${orgId ?? null}::uuid, g.org_id)
      and g.user_id = coalesce(${userId ?? null}::uuid, g.user_id)
    returning g.id::text, g.org_id::text as "orgId", g.user_id::text as "userId", g.client_id as "clientId"`;
