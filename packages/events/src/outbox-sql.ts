/**
 * The outbox of the publishing service. Its migration holds this text verbatim; a test of the service compares them:
 * `expect(migration).toContain(outboxSql)`.
 *
 * In a separate PostgreSQL schema, which the service's Prisma schema doesn't list, so Prisma leaves it alone.
 *
 * The order of `seq` is that of the inserts, and a transaction may commit long after one with a higher `seq`. So
 * no reader relies on it: `position` is given when a row is visible, by one transaction at a time (the lock on
 * `head`), and so grows in the order in which readers can see it. A reader that remembers a position never skips.
 */
export const outboxSql = `create schema outbox;

create table outbox.events (
  event_id     uuid        not null primary key,
  -- Once per cause, such as a run: a second insert for the same one changes nothing.
  cause        text        not null unique,
  org_id       text        not null,
  event_key    text        not null,
  -- Not jsonb: what is published is byte for byte what was stored.
  event        json        not null,
  created_at   timestamptz not null default clock_timestamp(),
  seq          bigint      not null generated always as identity,
  position     bigint,
  published_at timestamptz,
  -- The trace that the event belongs to, if there is one.
  traceparent  text
);

create index outbox_pending on outbox.events (position, seq) where published_at is null;
create index outbox_by_organisation on outbox.events (org_id, position);
create index outbox_by_age on outbox.events (created_at);

-- Rows come and go in order; the default of a fifth of the table is far too late for a queue.
alter table outbox.events set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create table outbox.head (
  is_only  boolean not null primary key default true check (is_only),
  position bigint  not null,
  -- The highest position of an event that has been deleted.
  deleted  bigint  not null default 0,
  -- How often events were deleted.
  deletions bigint not null default 0,
  -- Another one after the database was restored: the same positions may then have other events.
  epoch    uuid    not null default gen_random_uuid()
);
insert into outbox.head (position) values (0);

-- Gives visible rows their positions, at most rows_max of them; returns how many. Volatile on purpose: each
-- statement then has a snapshot of its own, so the rows are looked for after the lock was waited for.
create function outbox.assign_positions(rows_max integer) returns integer language plpgsql volatile as $$
declare
  last_position bigint;
  assigned      integer;
begin
  if not exists (select from outbox.events where published_at is null and position is null) then
    return 0;
  end if;
  select position into last_position from outbox.head for update;
  with fresh as (
    select event_id, row_number() over (order by seq) as number
      from (
        select event_id, seq from outbox.events
         where published_at is null and position is null
         order by seq limit rows_max
      ) as oldest
  )
  update outbox.events as o set position = last_position + fresh.number
    from fresh where o.event_id = fresh.event_id;
  get diagnostics assigned = row_count;
  update outbox.head set position = last_position + assigned;
  return assigned;
end $$;
`;
