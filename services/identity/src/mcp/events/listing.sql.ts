import type { ListWindow } from '@platform/service-kit';
import type pg from 'pg';

export interface ListedRow {
  readonly id: string;
  readonly event: string;
  readonly arguments: Readonly<Record<string, string | number>>;
  readonly url: string;
  readonly credentialKind: string;
  readonly credentialName: string;
  readonly ownerId: string;
  readonly ownerName: string;
  /** Null for a service account. */
  readonly ownerEmail: string | null;
  readonly createdAt: Date;
  readonly endsAt: Date;
  readonly failingSince: Date | null;
  /** In ISO 8601. */
  readonly lastDeliveredAt: string | null;
}

/* A subscription ends with its credential, even before it is deleted. */
const withCredential = `
  from fact_destinations d
    left join personal_access_tokens t on d.credential_kind = 'pat' and t.id = d.credential_id and t.status = 'active'
    left join (oauth_grants g join oauth_clients c on c.id = g.client_id)
      on d.credential_kind = 'oauth' and g.id = d.credential_id and g.revoked_at is null
    left join users u on u.id = d.owner_id and u.removed_at is null
    left join service_accounts a on a.id = d.owner_id and a.removed_at is null
  where d.org_id = $1 and d.form = 'subscription'`;
const hasCredential = 'coalesce(t.id, g.id) is not null and coalesce(u.id, a.id) is not null';
const live = `${withCredential} and d.ends_at > $2 and ${hasCredential}`;

const fields = `
  select d.id, d.event, d.arguments, d.url, d.credential_kind as "credentialKind", coalesce(t.name, c.name) as "credentialName",
    d.owner_id as "ownerId", coalesce(u.full_name, a.name) as "ownerName", u.email as "ownerEmail", d.created_at as "createdAt",
    d.ends_at as "endsAt", d.failing_since as "failingSince",
    (select w.attempts -> -1 ->> 'at' from fact_deliveries w where w.destination_id = d.id and w.state = 'delivered'
     order by w.id desc limit 1) as "lastDeliveredAt"
  ${live}`;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Finds the subscriptions of an account, of which there are 100 at most, the newest first. */
export async function findOwn(
  db: pg.Pool,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
  now: Date,
): Promise<ListedRow[]> {
  const { rows } = await db.query<ListedRow>({
    name: 'own_event_subscriptions',
    text: `${fields} and d.owner_id = $3 order by d.id desc`,
    values: [orgId, now, userId],
  });
  return rows;
}

/** Counts the subscriptions of an organisation, of which there are 1,000 at most. */
export async function countAll(db: pg.Pool, orgId: string, now: Date): Promise<number> {
  const { rows } = await db.query<{ total: number }>({
    name: 'count_event_subscriptions',
    text: `select count(*)::int as total ${live}`,
    values: [orgId, now],
  });
  return rows[0]?.total ?? 0;
}

export async function findAll(
  db: pg.Pool,
  orgId: string,
  now: Date,
  { isFromEnd, offset, count, beforeId }: ListWindow,
): Promise<ListedRow[]> {
  const { rows } = await db.query<ListedRow>({
    name: isFromEnd ? 'event_subscriptions_from_end' : 'event_subscriptions',
    text: `${fields} and d.id < $5 order by d.id ${isFromEnd ? 'asc' : 'desc'} limit $3 offset $4`,
    values: [orgId, now, count, offset, beforeId ?? LAST_ID],
  });
  return isFromEnd ? rows.toReversed() : rows;
}

/** Finds the subscriptions of an organisation whose credential has ended, and which no event has ended yet. */
export async function findEnded(
  db: pg.Pool,
  orgId: string,
): Promise<(Pick<ListedRow, 'id' | 'event' | 'arguments' | 'url'> & { readonly orgId: string })[]> {
  const { rows } = await db.query({
    name: 'ended_event_subscriptions',
    text: `select d.id, d.org_id as "orgId", d.event, d.arguments, d.url ${withCredential} and not (${hasCredential})`,
    values: [orgId],
  });
  return rows;
}
