create type schedule_state as enum ('active', 'paused', 'finished');
create type run_state as enum ('waiting', 'active', 'retrying', 'completed', 'failed', 'aborted', 'skipped');
create type run_trigger as enum ('schedule', 'manual', 'missed');

-- Every accepted schedule and every resume gets the next one: a job of an earlier revision is void.
-- It is also the number in the `jobId` of the answer.
create sequence schedule_revisions;

-- One schedule per connector and organisation; it lives until it is removed.
create table schedules (
  id uuid primary key,
  org_id uuid not null,
  connector text not null,
  user_id uuid not null,
  config jsonb not null,
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
  missed_runs integer not null default 0,
  last_run_id uuid,
  constraint schedules_next_run check ((state = 'active') = (next_run_at is not null))
) with (fillfactor = 80);
create unique index schedules_org_connector on schedules (org_id, connector);
-- What the watchdog reads: its length is the number of late runs, not of schedules.
create index schedules_due on schedules (next_run_at) where state = 'active';
-- What the reconciler pages through, one queue at a time.
create index schedules_of_queue on schedules (connector, id) where state = 'active';

create table runs (
  id uuid primary key,
  schedule_id uuid not null,
  org_id uuid not null,
  connector text not null,
  trigger run_trigger not null,
  -- What makes the run the one of its occasion: `t<epoch ms>` of its time, or `m<id>` of a request.
  tick text not null,
  job_id text not null,
  state run_state not null,
  scheduled_for timestamptz(3) not null,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  attempts smallint not null default 0,
  attempts_max smallint not null,
  -- How often a worker vanished with the run in its hands.
  recoveries smallint not null default 0,
  progress smallint not null default 0,
  reason text,
  event_id uuid,
  -- Past it, whoever had the run is taken for gone.
  lease_until timestamptz(3)
) with (fillfactor = 70);
-- The same time never runs twice, however often its job is delivered.
create unique index runs_tick on runs (schedule_id, tick);
-- One run per connector and organisation at a time.
create unique index runs_in_progress on runs (org_id, connector) where state in ('waiting', 'active', 'retrying');
create index runs_history on runs (org_id, connector, id desc);
create index runs_leases on runs (lease_until) where state in ('waiting', 'active', 'retrying');

-- What /stats can't count from an organisation's few schedules.
create table org_statistics (
  org_id uuid primary key,
  completed bigint not null default 0,
  failed bigint not null default 0
) with (fillfactor = 50);
