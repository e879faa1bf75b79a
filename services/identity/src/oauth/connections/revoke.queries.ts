import type { Transaction } from '../../resources.js';

export interface EndedGrant {
  readonly id: string;
  readonly orgId: string;
  readonly userId: string;
  readonly clientId: string;
}

/** Revokes a grant, which ends all of its tokens at once. @returns null when it had ended already. */
export async function revokeGrant(
  db: Transaction,
  revocation: {
    readonly id: string;
    /** Undefined matches any organisation; only the protocol itself revokes without one. */
    readonly orgId: string | undefined;
    /** Undefined matches any member. */
    readonly userId: string | undefined;
    readonly by: string | null;
    readonly reason: string | null;
    readonly at: Date;
  },
): Promise<EndedGrant | null> {
  const { id, orgId, userId, by: revokedBy, reason: revokedReason, at: revokedAt } = revocation;
  const [ended] = await db.oauthGrant.updateManyAndReturn({
    where: {
      id,
      revokedAt: null,
      ...(orgId === undefined ? {} : { orgId }),
      ...(userId === undefined ? {} : { userId }),
    },
    data: { revokedAt, revokedBy, revokedReason },
    select: { id: true, orgId: true, userId: true, clientId: true },
  });
  return ended ?? null;
}
