create type run_state as enum ('waiting', 'active', 'retrying', 'completed', 'failed', 'aborted', 'skipped');

create type run_trigger as enum ('schedule', 'manual', 'missed');

create type schedule_state as enum ('active', 'paused', 'finished', 'removed');

-- Every accepted schedule and every resume gets the next one: a job of an earlier revision is void.
-- It is also the number in the `jobId` of the answer.
create sequence schedule_revisions;

-- What /stats can't count from an organisation's few schedules.
create table org_statistics (
  org_id uuid primary key,
  completed bigint default 0 not null,
  failed bigint default 0 not null
) with (fillfactor=50);

create table runs (
  id uuid primary key,
  schedule_id uuid not null,
  -- Of the schedule, when the run was made.
  revision bigint not null,
  org_id uuid not null,
  connector text not null,
  trigger run_trigger not null,
  -- Identifies the occasion of the run: `<revision>:<epoch ms>` of its time, or `m<id>` of a request.
  tick text not null,
  job_id text not null,
  state run_state not null,
  scheduled_for timestamptz(3) not null,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  attempts smallint default 0 not null,
  attempts_max smallint not null,
  -- How often the run's worker vanished.
  recoveries smallint default 0 not null,
  progress smallint default 0 not null,
  reason text,
  event_id uuid,
  -- When the worker's lease expires.
  lease_until timestamptz(3),
  -- How often the run was claimed: a worker whose claim has another number has lost it.
  claim_count integer default 0 not null,
  -- Renewed while a worker holds the run. No index may name it, so that a renewal is a HOT update; `lease_until` is set
  -- when the run is claimed or put back, and is what the index finds.
  heartbeat_until timestamptz(3),
  -- Since when the attempt under way has waited for an endpoint that is unavailable; null while it answers.
  unavailable_since timestamptz(3),
  -- `x-request-id` of the request that asked for the run; null for a run of the schedule.
  request_id text,
  -- Where the remote task of the run's attempt can be cancelled; null when there is none, or it was cancelled.
  task_location text,
  failed_attempts jsonb default '[]' not null,
  -- Of the attempt under way or the last one. Null: the attempt began with the run.
  attempt_started_at timestamptz(3)
) with (fillfactor=70);
create index runs_history on runs (org_id, connector, id desc);
-- One run per connector and organisation at a time.
create unique index runs_in_progress on runs (org_id, connector) where state in ('waiting', 'active', 'retrying');
create index runs_leases on runs (lease_until) where state in ('waiting', 'active', 'retrying');
-- What the reconciler reads: aborted runs whose task no worker has cancelled yet.
create index runs_orphaned_tasks on runs (finished_at) where (state = 'aborted') and (task_location is not null);
-- The same time never runs twice, however often its job is delivered.
create unique index runs_tick on runs (schedule_id, tick);

-- One schedule per connector and organisation; it lives until it is removed.
create table schedules (
  id uuid primary key,
  org_id uuid not null,
  connector text not null,
  user_id uuid not null,
  config jsonb not null,
  is_recurring boolean generated always as (((config ->> 'scheduleType') <> 'once')) stored not null,
  priority smallint not null,
  max_retries smallint not null,
  timeout_ms integer not null,
  metadata jsonb,
  state schedule_state not null,
  revision bigint not null,
  scheduled_at timestamptz(3) not null,
  paused_at timestamptz(3),
  -- When the next run is expected. Null while paused and after a one-off job.
  next_run_at timestamptz(3),
  -- Set by the watchdog while an expected run is late.
  overdue_since timestamptz(3),
  missed_runs integer default 0 not null,
  -- What an hourly interval that does not divide 24 is counted from. It outlives a replacement that changes no time.
  anchor_at timestamptz(3) not null,
  -- When the queue is next brought to the row; null while the queue agrees with it.
  apply_at timestamptz(3),
  -- The revisions of which the queue may hold something. Read only while `apply_at` is not null: after that it is `revision`.
  queued_revisions bigint[] default '{}'::bigint[] not null,
  -- Whether one of queued_revisions may be a one-off: otherwise the queue is not asked to remove its job.
  queued_one_off boolean default true not null,
  constraint schedules_next_run check ((state = 'active') = (next_run_at is not null))
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);
-- What the watchdog reads: its length is the number of late runs, not of schedules.
create index schedules_due on schedules (next_run_at) where state = 'active';
create unique index schedules_org_connector on schedules (org_id, connector);
-- What the applier reads: its length is the number of changes that the queue has yet to hear of.
create index schedules_unapplied on schedules (apply_at) where apply_at is not null;

-- The outbox of packages/events, word for word: a test compares them.
create schema sync_events;

create table sync_events.outbox (
  event_id     uuid        not null primary key,
  -- Once per run: a second insert for the same run changes nothing.
  run_id       text        not null unique,
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

create index outbox_pending on sync_events.outbox (position, seq) where published_at is null;
create index outbox_by_organisation on sync_events.outbox (org_id, position);
create index outbox_by_age on sync_events.outbox (created_at);

-- Rows come and go in order; the default of a fifth of the table is far too late for a queue.
alter table sync_events.outbox set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create table sync_events.head (
  is_only  boolean not null primary key default true check (is_only),
  position bigint  not null
);
insert into sync_events.head (position) values (0);

-- Gives visible rows their positions, at most rows_max of them; returns how many. Volatile on purpose: each
-- statement then has a snapshot of its own, so the rows are looked for after the lock was waited for.
create function sync_events.assign_positions(rows_max integer) returns integer language plpgsql volatile as $$
declare
  last_position bigint;
  assigned      integer;
begin
  if not exists (select from sync_events.outbox where published_at is null and position is null) then
    return 0;
  end if;
  select position into last_position from sync_events.head for update;
  with fresh as (
    select event_id, row_number() over (order by seq) as number
      from (
        select event_id, seq from sync_events.outbox
         where published_at is null and position is null
         order by seq limit rows_max
      ) as oldest
  )
  update sync_events.outbox as o set position = last_position + fresh.number
    from fresh where o.event_id = fresh.event_id;
  get diagnostics assigned = row_count;
  update sync_events.head set position = last_position + assigned;
  return assigned;
end $$;
