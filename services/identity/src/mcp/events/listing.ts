import type { UserPrincipal } from '@platform/auth';
import { type ListPage, type ListQuery, notFound, readListPage } from '@platform/service-kit';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { countAll, findAll, findOwn, type ListedRow } from './listing.sql.js';
import type { EventSubscription, OwnedEventSubscription } from './schemas.js';
import { removeSubscription, type SubscriptionContext } from './subscriptions.js';

type Context = Pick<SubscriptionContext, 'pool' | 'prisma' | 'clock'>;

const toSubscription = (row: ListedRow): EventSubscription => ({
  id: row.id,
  event: row.event,
  arguments: row.arguments,
  host: new URL(row.url).host,
  credential: { kind: row.credentialKind, name: row.credentialName },
  createdAt: row.createdAt.toISOString(),
  endsAt: row.endsAt.toISOString(),
  lastDeliveredAt: row.lastDeliveredAt,
  failingSince: row.failingSince?.toISOString() ?? null,
});

/** Lists the subscriptions that the caller's tokens and applications have made. */
export const listOwnSubscriptions = async (
  { pool, clock }: Context,
  member: UserPrincipal,
): Promise<EventSubscription[]> => (await findOwn(pool, member, new Date(clock()))).map(toSubscription);

export function listSubscriptions(
  { pool, clock }: Context,
  { orgId }: UserPrincipal,
  query: ListQuery,
): Promise<ListPage<OwnedEventSubscription>> {
  const now = new Date(clock());
  return readListPage(query, {
    count: () => countAll(pool, orgId, now),
    find: (window) => findAll(pool, orgId, now, window),
    toItem: (row) => ({
      ...toSubscription(row),
      owner: { id: row.ownerId, name: row.ownerName, email: row.ownerEmail },
    }),
  });
}

/**
 * Ends a subscription at once.
 *
 * @param ownerId - undefined for that of anybody in the organisation.
 * @throws AppError 404.
 */
export async function stopSubscription(
  ctx: Context,
  caller: Caller,
  id: string,
  ownerId: string | undefined,
): Promise<void> {
  const { orgId } = caller;
  const isStopped = await removeSubscription(ctx, { id, orgId, ownerId }, toActor(caller));
  if (!isStopped) throw notFound('Subscription not found');
}
