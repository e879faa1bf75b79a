import { expandFactTypes } from '@platform/events';
import type pg from 'pg';
import { type Attempt, attemptFaults, type Target } from './send.js';

/** What makes a destination a subscription of an agent. */
export interface Subscription {
  readonly event: string;
  readonly arguments: Readonly<Record<string, string | number>>;
  /** What the data of its facts contain; null for anything. */
  readonly filter: object | null;
  readonly credentialKind: 'pat' | 'oauth';
  /** The token, or the connection. */
  readonly credentialId: string;
  /** In ISO 8601. */
  readonly endsAt: string;
  /** With a position, a cursor of the feed. */
  readonly epoch: string;
  readonly deletions: string;
}

/** A destination that this replica sends to until `claimedUntil`; no other one does meanwhile. */
export interface Claim extends Target {
  readonly subscription: Subscription | null;
  readonly types: readonly string[];
  readonly position: string;
  /** Whether it has accepted what was last sent to it, or some of that. */
  readonly isAccepting: boolean;
  readonly failures: number;
  readonly failingSince: Date | null;
  readonly claimedUntil: Date;
}

/*
 * There are many subscriptions, and each matches few facts. So an idle subscription is not claimed: one statement compares new
 * facts with all idle subscriptions of their organisation, advances the positions of those that match none, and makes the
 * others due. A row is written when its subscription becomes due, and otherwise only now and then. Without new facts,
 * nothing is compared.
 *
 *   idle ── a fact matches ──> due ── everything was sent ──> idle
 */
const matchIdle = `
  with news as materialized (
    select position from outbox.head where position > $4
  ), idle as materialized (
    select d.id, d.org_id, d.position, d.types, d.filter from news cross join fact_destinations d
    where not d.is_due and d.is_enabled and d.ends_at > $1
  ), since as (
    select org_id, min(position) as position from idle group by org_id
  ), recent as materialized (
    select since.org_id, e.position, e.event ->> 'type' as type, (e.event -> 'data')::jsonb as data
    from since cross join lateral (
      select position, event from outbox.events where org_id = since.org_id::text and position > since.position
      order by position limit $2
    ) e
  ), searched as (
    select org_id, max(position) as position, count(*) = $2 as is_full from recent group by org_id
  ), matched as (
    select idle.id, min(recent.position) - 1 as position from idle join recent on recent.org_id = idle.org_id
      and recent.position > idle.position and recent.type = any(idle.types)
      and (idle.filter is null or recent.data @> idle.filter)
    group by idle.id
  ), found as (
    select idle.id, coalesce(matched.position, searched.position) as position, matched.id is not null as is_due
    from idle join searched using (org_id) left join matched using (id)
    where matched.id is not null or searched.position >= idle.position + case when searched.is_full then 1 else $3 end
  ), locked as materialized (
    select id from fact_destinations where id in (select id from found) and not is_due order by id for no key update skip locked
  ), moved as (
    update fact_destinations d set position = found.position, is_due = found.is_due from found join locked using (id)
    where d.id = found.id and d.position <= found.position returning d.is_due
  )
  select exists (select from moved where is_due) as "areDue", exists (select from searched where is_full) as "isPartial",
    exists (select from fact_destinations where form = 'subscription') as "areAny",
    coalesce((select position from news), $4)::text as head`;

/** The facts that one search looks at, and how far behind an idle subscription may be. */
const MAX_MATCHED = 1_000;
const MAX_BEHIND = 200;

export interface Matched {
  /** Whether subscriptions became due. */
  readonly areDue: boolean;
  /** Whether there are more facts to look at. */
  readonly isPartial: boolean;
  /** Whether there are subscriptions at all. */
  readonly areAny: boolean;
  /** The position up to which there are facts. */
  readonly head: string;
}

/** Finds the subscriptions that have something to send. @param after - the head when all were last looked at. */
export async function matchSubscriptions(db: pg.Pool, now: Date, after: string): Promise<Matched> {
  const { rows } = await db.query<Matched>({
    name: 'match_subscriptions',
    text: matchIdle,
    values: [now, MAX_MATCHED, MAX_BEHIND, after],
  });
  return rows[0] as Matched;
}

/*
 * Claims destinations that have something to send, the longest unserved first. Those of one organisation that are served at
 * the same time, by all replicas together, are limited, so that no organisation delays another one. Destinations that
 * have accepted nothing lately have a separate limit, so that they don't delay the others of their organisation.
 */
const claimDue = `
  with due as materialized (
    select d.id, row_number() over (partition by d.org_id order by d.served_at, d.id) + (
      select count(*) from fact_destinations busy
      where busy.org_id = d.org_id and busy.claimed_until > $1 and busy.is_accepting = $2
        and (busy.form = 'subscription') = $6) as place
    from fact_destinations d
    where d.is_enabled and d.is_due and d.is_accepting = $2 and (d.form = 'subscription') = $6
      and coalesce(d.claimed_until <= $1, true) and coalesce(d.resume_at <= $1, true) and coalesce(d.ends_at > $1, true)
      and ($6 or exists (select from outbox.events e where e.org_id = d.org_id::text and e.position > d.position)
        or exists (select from fact_deliveries w
                   where w.destination_id = d.id and w.state = 'waiting' and w.next_attempt_at <= $1))
  ), chosen as (
    select d.id from fact_destinations d join due using (id)
    where due.place <= $3 and coalesce(d.claimed_until <= $1, true)
    order by d.served_at limit $4 for no key update of d skip locked
  )
  update fact_destinations d set claimed_until = $5, served_at = $1 from chosen, outbox.head where d.id = chosen.id
  returning d.id, d.org_id as "orgId", d.form, d.url, d.types, d.position, d.is_accepting as "isAccepting", d.failures, d.failing_since as "failingSince",
    d.secret_sealed as "secretSealed", d.secret_header as "secretHeader", d.claimed_until as "claimedUntil",
    d.subscription_key as "subscriptionKey", case when $6 then json_build_object('event', d.event, 'arguments', d.arguments,
      'filter', d.filter, 'credentialKind', d.credential_kind, 'credentialId', d.credential_id, 'endsAt', d.ends_at,
      'epoch', head.epoch, 'deletions', head.deletions::text)
    end as subscription`;

export async function claimDestinations(
  db: pg.Pool,
  claim: {
    readonly now: Date;
    readonly isAccepting: boolean;
    readonly areSubscriptions: boolean;
    readonly perOrganisation: number;
    readonly limit: number;
    readonly until: Date;
  },
): Promise<Claim[]> {
  const { rows } = await db.query<Claim>({
    name: 'claim_fact_destinations',
    text: claimDue,
    values: [
      claim.now,
      claim.isAccepting,
      claim.perOrganisation,
      claim.limit,
      claim.until,
      claim.areSubscriptions,
    ],
  });
  return rows;
}

/** The content of one request. */
export interface DeliveryBatch {
  /** Undefined for what was not sent before. */
  readonly delivery:
    | {
        readonly id: string;
        readonly attemptCount: number;
        readonly attempts: readonly Attempt[];
        readonly createdAt: Date;
      }
    | undefined;
  /** Null for several facts. */
  readonly factId: string | null;
  readonly type: string | null;
  readonly firstPosition: string;
  readonly lastPosition: string;
  /** In JSON, in order; none when they were deleted. */
  readonly facts: readonly string[];
  /** The positions of the facts. */
  readonly positions: readonly string[];
}

const selectDeliveries = `
  select w.id, w.fact_id as "factId", w.type, w.first_position as "firstPosition", w.last_position as "lastPosition",
    w.attempt_count as "attemptCount", w.attempts, w.created_at as "createdAt", found.facts, found.positions
  from fact_deliveries w cross join lateral (
    select coalesce(array_agg(e.event::text order by e.position), '{}') as facts,
      coalesce(array_agg(e.position::text order by e.position), '{}') as positions
    from outbox.events e
    where e.org_id = $2 and e.position between w.first_position and w.last_position
      and (w.fact_id = e.event_id or w.fact_id is null and ($4::text[] = '{}' or e.event ->> 'type' = any($4)))
  ) found
  where w.destination_id = $1 and w.state = 'waiting' and w.next_attempt_at <= $3
  order by case when w.fact_id is null then w.first_position end, w.next_attempt_at, w.id limit $5`;

/** Finds the deliveries that are due, the longest due first; those of logs in the order of their facts. */
export async function findDueDeliveries(
  db: pg.Pool,
  { id, orgId, types }: Claim,
  now: Date,
  limit: number,
): Promise<DeliveryBatch[]> {
  type Row = Omit<DeliveryBatch, 'delivery'> & NonNullable<DeliveryBatch['delivery']>;
  const { rows } = await db.query<Row>({
    name: 'find_due_fact_deliveries',
    text: selectDeliveries,
    values: [id, orgId, now, expandFactTypes(types), limit],
  });
  return rows.map(({ id: deliveryId, attemptCount, attempts, createdAt, ...batch }) => ({
    ...batch,
    delivery: { id: deliveryId, attemptCount, attempts, createdAt },
  }));
}

export interface NewFact {
  readonly id: string;
  readonly position: string;
  readonly type: string;
  /** Null for a type that the destination does not want. */
  readonly event: string | null;
}

const selectFacts = `
  with searched as materialized (
    select event_id as id, position, event ->> 'type' as type, event::text as event,
      $3::text[] = '{}' or event ->> 'type' = any($3) as "isWanted"
    from outbox.events
    where org_id = $1 and position > $2
      and ($7 or not exists (select from fact_deliveries where destination_id = $8 and state = 'waiting'))
    order by position limit $6
  ), counted as (
    select *, count(*) over () as searched, count(*) filter (where "isWanted") over upwards as wanted,
      sum(octet_length(event)) filter (where "isWanted") over upwards as bytes
    from searched window upwards as (order by position)
  )
  select id, position, type, case when "isWanted" then event end as event, searched::int
  from counted where wanted <= $4 and (wanted <= 1 or bytes <= $5) order by position`;

/**
 * Finds the facts after the destination's place, up to `maxFacts` that it wants with `maxBytes` together, but one at least.
 * There are none for logs while others wait, which have to be sent before.
 */
export async function findNewFacts(
  db: pg.Pool,
  { id, orgId, form, types, position }: Claim,
  max: { readonly maxFacts: number; readonly maxBytes: number; readonly maxSearched: number },
): Promise<{ readonly facts: NewFact[]; readonly isEnd: boolean }> {
  const { maxFacts, maxBytes, maxSearched } = max;
  const wanted = expandFactTypes(types);
  const { rows } = await db.query<NewFact & { readonly searched: number }>({
    name: 'find_new_facts',
    text: selectFacts,
    values: [orgId, position, wanted, maxFacts, maxBytes, maxSearched, form === 'webhook', id],
  });
  const searched = rows[0]?.searched ?? 0;
  return { facts: rows, isEnd: searched < maxSearched && rows.length === searched };
}

/*
 * The next fact of each subscription, how far it was looked for, and whether there may be more. There is none while one waits,
 * which has to be sent before.
 */
const selectNext = `
  select claimed.id as "claimId", fact.id, fact.position, fact.type, fact.event,
    found.searched < $2 and found.second is null as "isEnd", coalesce(found.second - 1, found.last) as "readTo"
  from jsonb_to_recordset($1::jsonb) as claimed (id uuid, "orgId" text, position bigint, types text[], filter jsonb)
  cross join lateral (
    select count(*)::int as searched, max(position) as last, (array_agg(position order by position) filter (where "isWanted"))[1] as first,
      (array_agg(position order by position) filter (where "isWanted"))[2] as second
    from (
      select position, event ->> 'type' = any(claimed.types)
        and (claimed.filter is null or (event -> 'data')::jsonb @> claimed.filter) as "isWanted"
      from outbox.events where org_id = claimed."orgId" and position > claimed.position
        and not exists (select from fact_deliveries where destination_id = claimed.id and state = 'waiting')
      order by position limit $2
    ) searched
  ) found left join lateral (
    select event_id as id, position, event ->> 'type' as type, event::text as event from outbox.events
    where org_id = claimed."orgId" and position = found.first
  ) fact on true`;

export interface NextFact {
  readonly fact: NewFact | undefined;
  /** The position up to which there is nothing else for the subscription. */
  readonly readTo: string;
  readonly isEnd: boolean;
}

/** Finds the next fact of each subscription, of as many facts at most. */
export async function findNextFacts(
  db: pg.Pool,
  claims: readonly Claim[],
  maxSearched: number,
): Promise<NextFact[]> {
  const given = claims.map(({ id, orgId, position, types, subscription }) => ({
    id,
    orgId,
    position,
    types,
    filter: subscription?.filter ?? null,
  }));
  type Row = NewFact & { readonly claimId: string; readonly readTo: string | null; readonly isEnd: boolean };
  const { rows } = await db.query<Omit<Row, 'id'> & { readonly id: string | null }>({
    name: 'find_next_facts',
    text: selectNext,
    values: [JSON.stringify(given), maxSearched],
  });
  const byClaim = new Map(rows.map((row) => [row.claimId, row]));
  return claims.map(({ id: claimId, position: place }) => {
    const { id, position, type, event, readTo, isEnd } = byClaim.get(claimId) ?? {};
    return {
      fact: id && position && type ? { id, position, type, event: event ?? null } : undefined,
      readTo: readTo ?? place,
      isEnd: isEnd ?? true,
    };
  });
}

/** The result of a batch. */
export interface Outcome {
  readonly id: string;
  readonly factId: string | null;
  readonly type: string | null;
  readonly facts: number;
  readonly firstPosition: string;
  readonly lastPosition: string;
  readonly state: 'waiting' | 'delivered' | 'failed';
  readonly attemptCount: number;
  readonly attempts: readonly Attempt[];
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
}

/** The state of a destination after some batches. */
export interface Progress {
  readonly position: string;
  readonly isAccepting: boolean;
  readonly failures: number;
  readonly failingSince: Date | null;
  readonly resumeAt: Date | null;
  /** Null releases the destination. */
  readonly claimedUntil: Date | null;
  /** Whether it may have more to send. */
  readonly isDue: boolean;
}

/** What became of the batches of a claim. */
export interface Served {
  readonly claim: Pick<Claim, 'id' | 'claimedUntil' | 'url'>;
  readonly outcomes: readonly Outcome[];
  readonly progress: Progress;
}

/*
 * Nothing is stored when the claim has ended: another replica may have sent the same meanwhile, and has stored that, or an
 * administrator has changed the destination.
 */
const store = `
  with mine as (
    update fact_destinations d set position = p.position, failures = p.failures, failing_since = p."failingSince",
      resume_at = p."resumeAt", claimed_until = p."nextUntil", is_accepting = p."isAccepting", is_due = p."isDue"
    from jsonb_to_recordset($1::jsonb) as p (id uuid, "claimedUntil" timestamptz, url text, position bigint, failures integer,
      "failingSince" timestamptz, "resumeAt" timestamptz, "nextUntil" timestamptz, "isAccepting" boolean, "isDue" boolean)
    where d.id = p.id and d.claimed_until = p."claimedUntil" and d.is_enabled and d.url = p.url returning d.id, d.org_id
  ), stored as (
    insert into fact_deliveries as known (id, destination_id, org_id, fact_id, type, facts, first_position, last_position,
      state, attempt_count, attempts, next_attempt_at, created_at)
    select o.id, mine.id, mine.org_id, "factId", type, facts, "firstPosition", "lastPosition", state, "attemptCount", attempts,
      "nextAttemptAt", "createdAt"
    from jsonb_to_recordset($2::jsonb) as o (id uuid, "destinationId" uuid, "factId" uuid, type text, facts integer,
      "firstPosition" bigint, "lastPosition" bigint, state text, "attemptCount" smallint, attempts jsonb,
      "nextAttemptAt" timestamptz, "createdAt" timestamptz)
      join mine on mine.id = o."destinationId"
    on conflict (id) do update set state = excluded.state, attempt_count = excluded.attempt_count,
      attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at, facts = coalesce(nullif(excluded.facts, 0), known.facts),
      first_position = excluded.first_position, last_position = excluded.last_position
  )
  select id from mine`;

/**
 * Stores what became of batches, and how far the destinations are.
 *
 * @returns for each whether the claim held, and the destination is still enabled and has the same URL; else nothing is stored.
 */
export async function storeOutcomes(db: pg.Pool, served: readonly Served[]): Promise<boolean[]> {
  const progress = served.map(
    ({ claim: { id, claimedUntil, url }, progress: { claimedUntil: nextUntil, ...rest } }) => ({
      ...rest,
      id,
      url,
      claimedUntil,
      nextUntil,
    }),
  );
  const outcomes = served.flatMap(({ claim, outcomes: ofOne }) =>
    ofOne.map((outcome) => ({ ...outcome, destinationId: claim.id })),
  );
  const { rows } = await db.query<{ id: string }>({
    name: 'store_fact_outcomes',
    text: store,
    values: [JSON.stringify(progress), JSON.stringify(outcomes)],
  });
  const held = new Set(rows.map(({ id }) => id));
  return served.map(({ claim }) => held.has(claim.id));
}

/** Gives up the deliveries beyond `maxWaiting`: the most often refused first, of these the oldest. */
export const failSurplusDeliveries = (db: pg.Pool, id: string, maxWaiting: number): Promise<unknown> =>
  db.query({
    name: 'fail_surplus_fact_deliveries',
    text: `update fact_deliveries set state = 'failed', next_attempt_at = null
      where id in (select id from fact_deliveries where destination_id = $1 and state = 'waiting'
                   order by attempt_count, id desc offset $2)`,
    values: [id, maxWaiting],
  });

/** Has the deliveries that wait sent now, since the destination accepts something again. */
export const hastenDeliveries = (
  db: pg.Pool,
  id: string,
  { now, maxAttempts }: { readonly now: Date; readonly maxAttempts: number },
): Promise<unknown> =>
  db.query({
    name: 'hasten_fact_deliveries',
    text: `update fact_deliveries set next_attempt_at = $2
      where destination_id = $1 and state = 'waiting' and next_attempt_at > $2 and attempt_count <= $3`,
    values: [id, now, maxAttempts],
  });

/*
 * Destinations that were disabled or accepted nothing for as long as facts are kept. What they wanted of the facts that are
 * about to be deleted is a delivery that failed, one for each gap. Few destinations are behind, so the first fact after the
 * place of each is looked at before the rest.
 */
const passDeleted = `
  with behind as materialized (
    select d.id, d.org_id, d.position as place, gone.* from fact_destinations d
    cross join lateral (
      select max(e.position) as last, min(e.position) filter (where "isWanted") as first,
        count(*) filter (where "isWanted")::int as facts
      from (
        select position, (d.types = '{}' or event ->> 'type' = any(d.types)
          or 'audit.entry' = any(d.types) and event ->> 'type' = any($2))
          and (d.filter is null or (event -> 'data')::jsonb @> d.filter) as "isWanted"
        from outbox.events where org_id = d.org_id::text and position > d.position order by position limit $5
      ) e where e.position <= $1
    ) gone
    where $1 >= (select position from outbox.events
      where org_id = d.org_id::text and position > d.position order by position limit 1)
    for no key update of d
  ), passed as (
    update fact_destinations d set position = behind.last, claimed_until = null from behind where d.id = behind.id
  ), extended as (
    update fact_deliveries known set facts = known.facts + behind.facts, last_position = behind.last from behind
    where known.destination_id = behind.id and known.state = 'failed' and known.last_position = behind.place and known.fact_id is null
      and known.attempts -> -1 ->> 'fault' = $4::text
    returning behind.id
  ), added as (
    insert into fact_deliveries (id, destination_id, org_id, facts, first_position, last_position, state, attempt_count, attempts,
      created_at)
    select uuid_v7($6), id, org_id, facts, first, last, 'failed', 1, jsonb_build_array($3::jsonb), $6
    from behind where facts > 0 and id not in (select id from extended)
  )
  select from behind`;

/** The facts that one statement moves a destination past. */
const MAX_PASSED = 10_000;

/** Moves destinations past the facts up to that position, which are deleted next. */
export async function passDeletedFacts(db: pg.Pool, last: string, now: Date): Promise<void> {
  const fault = attemptFaults.factDeleted;
  const attempt: Attempt = { at: now.toISOString(), status: null, fault, durationMs: 0 };
  const audited = expandFactTypes(['audit.entry']);
  const values = [last, audited, JSON.stringify(attempt), fault, MAX_PASSED, now];
  while (((await db.query(passDeleted, values)).rowCount ?? 0) > 0);
}
