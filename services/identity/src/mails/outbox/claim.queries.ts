import { Prisma as Sql } from '../../generated/prisma/client.js';
import type { Prisma } from '../../resources.js';
import type { OutgoingMail } from './queries.js';

/**
 * Each lane has its own slots, so that urgent mails don't wait for others, nor other notices for alerts, nor alerts about
 * a possible theft for anything. They are claimed in this order.
 */
export const lanes = ['thefts', 'urgent', 'other', 'alerts'] as const;
export type Lane = (typeof lanes)[number];

/** The predicates of the partial indexes. Urgent mails are those that a person is waiting for at a screen. */
const lanePredicates: Readonly<Record<Lane, Sql.Sql>> = {
  urgent: Sql.sql`kind in ('login_code', 'password_reset')`,
  other: Sql.sql`kind not in ('login_code', 'password_reset', 'token_alert')`,
  alerts: Sql.sql`kind = 'token_alert' and not reports_theft`,
  thefts: Sql.sql`kind = 'token_alert' and reports_theft`,
};

export interface Claim {
  readonly lane: Lane;
  readonly now: Date;
  readonly leasedUntil: Date;
  readonly limit: number;
  /** The limit of concurrent mails of one organisation. */
  readonly maxPerOrganisation: number;
  /** The number of mails that this replica is sending, by organisation. */
  readonly held: ReadonlyMap<string, number>;
}

/**
 * Claims due mails, up to the limit per organisation: organisations take turns, and the longest due mail goes first. Rows
 * that another replica has locked are skipped. A loose index scan finds the organisations, so that one with many mails
 * costs no more than others.
 *
 * No transaction stays open while a mail is sent: claiming a row moves its next attempt to the end of the lease, when
 * another replica can claim it if this process has died.
 */
export const claimMails = (
  db: Prisma,
  { lane, now, leasedUntil, limit, maxPerOrganisation, held }: Claim,
): Promise<OutgoingMail[]> => db.$queryRaw<OutgoingMail[]>`
  with recursive organisations (org_id) as (
    (select org_id from outgoing_mails where ${lanePredicates[lane]} and org_id is not null order by org_id limit 1)
    union all
    select (select mails.org_id from outgoing_mails mails
            where ${lanePredicates[lane]} and mails.org_id > organisations.org_id order by mails.org_id limit 1)
    from organisations where organisations.org_id is not null
  ), due as (
    select mails.id, mails.next_attempt_at,
           row_number() over (partition by organisations.org_id order by mails.next_attempt_at) as turn
    from organisations cross join lateral (
      select id, next_attempt_at from outgoing_mails
      where ${lanePredicates[lane]} and org_id = organisations.org_id
        and next_attempt_at <= ${now.toISOString()}::timestamptz and expires_at > ${now.toISOString()}::timestamptz
      order by next_attempt_at
      limit greatest(${maxPerOrganisation}::int
        - coalesce((${JSON.stringify(Object.fromEntries(held))}::jsonb ->> organisations.org_id::text)::int, 0), 0)
    ) mails
  ), claimed as (
    select id from outgoing_mails
    where id in (select id from due order by turn, next_attempt_at limit ${limit})
      and next_attempt_at <= ${now.toISOString()}::timestamptz
    for update skip locked
  )
  update outgoing_mails
  set attempts = attempts + 1, next_attempt_at = ${leasedUntil.toISOString()}::timestamptz
  where id in (select id from claimed)
  returning id::text, kind, org_id::text as "orgId", user_id::text as "userId", email, detail, created_at as "createdAt",
            sealed_message as "sealedMessage", request_id as "requestId", attempts, refusals,
            unknown_outcomes as "unknownOutcomes", merge_key as "mergeKey"`;
