import type pg from 'pg';
import { type ClaimedMail, priorities } from './mail.js';
import { leaseEnd, suppressedAddresses } from './queue.sql.js';

/*
 * One statement claims the next mails, so that organisations take turns: each gets one mail before any of them gets a second.
 * Within an organisation the most urgent mail goes first, and of all mails, codes do. It reads three things, each bounded:
 *
 *   1. Which organisations have due mails? While fewer than FEW_DUE mails are due, as usual, those mails say it, however many
 *      others wait for a later time. Otherwise one organisation may own all of the first ones, so the organisations of the queue
 *      are walked by their ids, from the one after the last turn and around. Each costs one look into an index; the walk
 *      ends when enough mails are found. Organisations with codes come first.
 *   2. Which mails of these organisations are next? Of each priority as many are read as an organisation may have at once. That
 *      number is a constant for the planner, which would otherwise prepare for reading a part of all.
 *   3. Rows that another replica has locked are skipped.
 *
 * The mails of a priority are a range of the index that begins with the organisation, and are asked for as such. By the index of
 * what is due, which the planner would take for a plain condition on the priority, each priority of an organisation without due
 * mails would read all that is due: 0.9 s for 100,000 mails of ten organisations.
 */

/** While fewer mails than this are due, their organisations are found by the index of what is due. */
const FEW_DUE = 200;

const claimSql = `
  with recursive first_due as materialized (
    select org_id, priority, next_attempt_at from mails where state = 'queued' and next_attempt_at <= $1
    order by next_attempt_at limit ${FEW_DUE}
  ), queue as materialized (
    select count(*) = ${FEW_DUE} as is_long from first_due
  ), with_codes (org_id) as (
    (select org_id from mails where state = 'queued' and priority = ${priorities.code} and (select is_long from queue)
     order by org_id limit 1)
    union all
    select (select mails.org_id from mails
            where state = 'queued' and priority = ${priorities.code} and mails.org_id > with_codes.org_id
            order by mails.org_id limit 1)
    from with_codes where with_codes.org_id is not null
  ), walk (org_id, number, is_around) as (
    select $4::uuid, 0, false where $3::int > 0 and (select is_long from queue)
    union all
    select next.org_id, walk.number + 1, next.is_around
    from walk cross join lateral (
      (select mails.org_id, walk.is_around from mails where state = 'queued' and mails.org_id > walk.org_id
       order by mails.org_id, priority, next_attempt_at limit 1)
      union all
      (select mails.org_id, true from mails where state = 'queued' and not walk.is_around
       order by mails.org_id, priority, next_attempt_at limit 1)
      limit 1
    ) next
    where not next.is_around or next.org_id <= $4
  ), organisations (org_id, number) as (
    select org_id, row_number() over (order by min(priority) = ${priorities.code} desc, min(next_attempt_at)) from first_due
    where not (select is_long from queue) group by org_id
    union all
    select org_id, 0 from with_codes where org_id is not null
    union all
    select org_id, number from walk
    where number > 0 and org_id <> all(array(select org_id from with_codes where org_id is not null))
  ), found as (
    select organisations.number, next.ids, next.codes
    from organisations
    cross join lateral (
      select coalesce(($7::jsonb -> org_id::text ->> 'others')::int, $5::int) as others,
             coalesce(($7::jsonb -> org_id::text ->> 'all')::int, $6::int) as all_mails
    ) room
    cross join lateral (
      select array_agg(id order by turn) as ids, count(*) filter (where priority = ${priorities.code}) as codes
      from (
        select id, mails.priority, row_number() over by_urgency as turn,
               count(*) filter (where mails.priority <> ${priorities.code}) over by_urgency as turn_of_others
        from (values (0::smallint), (1::smallint), (2::smallint)) as priorities (priority)
        cross join lateral (
          select id, priority, next_attempt_at from mails
          where state = 'queued' and expires_at > $1
            and (org_id, priority, next_attempt_at) >= (organisations.org_id, priorities.priority, '-infinity'::timestamptz)
            and (org_id, priority, next_attempt_at) <= (organisations.org_id, priorities.priority, $1)
          order by org_id, priority, next_attempt_at
          limit $6::int
        ) mails
        where priorities.priority = ${priorities.code} or least(room.others, $3::int) > 0
        window by_urgency as (order by mails.priority, mails.next_attempt_at, mails.id rows unbounded preceding)
      ) due
      where turn <= room.all_mails
        and (priority = ${priorities.code} or turn_of_others <= least(room.others, $3::int))
      having count(*) > 0
    ) next
    where room.all_mails > 0
    limit $2
  ), chosen as (
    select id, row_number() over (order by is_code desc, turn, number) as position
    from (
      select id, turn, number, turn <= codes as is_code,
             count(*) filter (where turn > codes) over (order by turn <= codes desc, turn, number rows unbounded preceding) as others
      from found cross join lateral unnest(ids) with ordinality as mail (id, turn)
    ) one
    where is_code or others <= $3::int
    order by position limit $2
  ), locked as (
    select id from mails where id = any(array(select id from chosen)) and state::text = 'queued' and next_attempt_at <= $1
    for update skip locked
  ), claimed as (
    update mails set state = 'sending', claim = claim + 1, attempts = attempts + 1, data_begun = false,
      lease_until = ${leaseEnd('$8', 'attempts')}, updated_at = $1
    where id = any(array(select id from locked))
    returning id, claim, org_id::text as "orgId", priority, attempts, unknown_attempts as "unknownAttempts",
      at_least_once as "atLeastOnce", from_address as "from", created_at as "createdAt", expires_at as "expiresAt",
      sealed_request as "sealedRequest",
      addresses_to_erase as "erasedAddresses", array(
        select address from mail_recipients recipients
        where recipients.mail_id = mails.id and recipients.outcome in ('accepted', 'refused', 'suppressed')
      ) as "finishedAddresses",
      ${suppressedAddresses} as "suppressedAddresses",
      exists (select from mail_recipients recipients
              where recipients.mail_id = mails.id and recipients.outcome = 'accepted') as "isPartlySent"
  )
  select claimed.* from claimed join chosen using (id) order by position`;

/** How many more mails of an organisation a replica may start. */
export interface Room {
  /** Besides codes. */
  readonly others: number;
  readonly all: number;
}

/** Before all organisations. */
export const FIRST_ORGANISATION = '00000000-0000-0000-0000-000000000000';

export interface ClaimLimits {
  /** How many mails to claim at most. */
  readonly limit: number;
  /** How many of them may be other mails than codes. */
  readonly limitOfOthers: number;
  /** The organisation that had the last turn. */
  readonly after: string;
  /** Of an organisation that is not named in `rooms`. */
  readonly defaultRoom: Room;
  readonly rooms: ReadonlyMap<string, Room>;
}

/** @returns the claimed mails: first the codes, then the others in the order of their turns. */
export async function claimMails(
  db: pg.Pool,
  at: Date,
  leaseMs: number,
  { limit, limitOfOthers, after, defaultRoom, rooms }: ClaimLimits,
): Promise<ClaimedMail[]> {
  const { rows } = await db.query<ClaimedMail>({
    name: 'claim_mails',
    text: claimSql,
    values: [
      at,
      limit,
      limitOfOthers,
      after,
      defaultRoom.others,
      defaultRoom.all,
      JSON.stringify(Object.fromEntries(rooms)),
      leaseMs,
    ],
  });
  return rows;
}
