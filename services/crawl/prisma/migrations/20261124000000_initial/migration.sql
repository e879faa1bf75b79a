-- Connectors and schedules ------------------------------------------------------------------------

-- An organisation may have several of a connector, such as two wikis. `default` is the one of the paths without an instance;
-- it needs no row here.
create table connector_instances (
  org_id uuid not null,
  connector text not null,
  instance text not null,
  display_name text not null,
  -- The member who may manage it besides the administrators.
  owner_id uuid,
  primary key (org_id, connector, instance)
);

-- Endpoints that organisations have registered, which crawl.
create table endpoints (
  id uuid primary key,
  org_id uuid not null,
  url text not null,
  description text not null,
  -- A JSON array, sealed: the secret that signs requests, and the one before it.
  secrets_sealed text not null,
  created_by uuid not null,
  created_at timestamptz(3) not null,
  rotated_at timestamptz(3),
  unique (org_id, id)
);

-- Who does the work of a run: whoever consumes its event, a worker that claims it, or an endpoint of the organisation.
create type run_worker as enum ('event', 'pull', 'endpoint');

create type schedule_state as enum ('active', 'paused', 'finished');

-- Every accepted schedule and every resume gets the next one. It is also the number in the `jobId` of the answer.
create sequence schedule_revisions;

-- One schedule per instance of a connector.
create table schedules (
  id uuid primary key,
  org_id uuid not null,
  connector text not null,
  instance text default 'default' not null,
  user_id uuid not null,
  config jsonb not null,
  is_recurring boolean generated always as (((config ->> 'scheduleType') <> 'once')) stored not null,
  priority smallint not null,
  max_retries smallint not null,
  timeout_ms integer not null,
  metadata jsonb,
  worker run_worker default 'event' not null,
  endpoint_id uuid,
  -- A full crawl is due this long after the last one; null: only the first one is full.
  full_every_days smallint,
  state schedule_state not null,
  revision bigint not null,
  scheduled_at timestamptz(3) not null,
  paused_at timestamptz(3),
  -- When a paused schedule resumes by itself.
  paused_until timestamptz(3),
  -- When the dispatcher next makes a run. Null while paused, and once a one-off schedule has its run.
  next_run_at timestamptz(3),
  missed_runs integer default 0 not null,
  -- What an hourly interval that does not divide 24 is counted from. It outlives a replacement that changes no time.
  anchor_at timestamptz(3) not null,
  -- When the run is due that hooks have asked for; null while none has. It waits for the run in progress.
  ring_due_at timestamptz(3),
  constraint schedules_endpoint foreign key (org_id, endpoint_id) references endpoints (org_id, id),
  constraint schedules_worker check ((worker = 'endpoint') = (endpoint_id is not null)),
  constraint schedules_next_run check (
    case when state = 'active' then next_run_at is not null or not is_recurring else next_run_at is null end)
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);
-- What the dispatcher reads: its length is the number of schedules that are due.
create index schedules_due on schedules (next_run_at) where state = 'active';
create index schedules_paused_until on schedules (paused_until) where paused_until is not null;
create index schedules_of_endpoint on schedules (org_id, endpoint_id) where endpoint_id is not null;
create unique index schedules_instance on schedules (org_id, connector, instance);
create index schedules_rung on schedules (ring_due_at) where ring_due_at is not null;

-- How a request to a hook is verified.
create type hook_kind as enum ('github', 'gitlab', 'standard_webhooks', 'bearer');

-- A source that has changed asks for a run through a hook.
create table hooks (
  id uuid primary key,
  org_id uuid not null,
  connector text not null,
  instance text not null,
  kind hook_kind not null,
  description text not null,
  -- A JSON array, sealed: the secret that verifies requests, and the one before it.
  secrets_sealed text not null,
  created_by uuid not null,
  created_at timestamptz(3) not null,
  rotated_at timestamptz(3),
  last_rung_at timestamptz(3),
  -- The minute in which requests are counted, and how many it had.
  minute_started_at timestamptz(3),
  minute_count smallint default 0 not null
) with (fillfactor=80);
create index hooks_of_instance on hooks (org_id, connector, instance);

-- Runs --------------------------------------------------------------------------------------------

create type run_state as enum ('waiting', 'active', 'retrying', 'completed', 'failed', 'aborted', 'skipped');

create type run_trigger as enum ('schedule', 'manual', 'missed', 'hook');

create type run_mode as enum ('incremental', 'full');

-- The runs of all connectors. Ended ones stay until the retention deletes them.
create table runs (
  id uuid primary key,
  schedule_id uuid not null,
  -- Of the schedule, when the run was made.
  revision bigint not null,
  org_id uuid not null,
  connector text not null,
  instance text default 'default' not null,
  trigger run_trigger not null,
  -- Identifies the occasion of the run: `<revision>:<epoch ms>` of its time, or `m<id>` of a request.
  tick text not null,
  worker run_worker default 'event' not null,
  endpoint_id uuid,
  mode run_mode default 'full' not null,
  -- What the run was ordered to do, as the schedule said when the run was made; null once it has ended. A schedule that
  -- is replaced meanwhile changes nothing about it.
  parameters jsonb,
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
  -- Waiting: its place in the line of its connector. Retrying: when the next attempt is due. Active: when the claim expires,
  -- unless a heartbeat renewed it.
  due_at timestamptz(3),
  -- How often the run was claimed: a worker whose claim has another number has lost it.
  claim_count integer default 0 not null,
  -- Until when the lease was renewed. No index may name it, so that a renewal is a HOT update.
  heartbeat_until timestamptz(3),
  -- Since when the attempt under way has waited for an endpoint that is unavailable; null while it answers.
  unavailable_since timestamptz(3),
  -- `x-request-id` of the request that asked for the run, and who asked; null for a run of the schedule.
  request_id text,
  requested_by uuid,
  requested_by_name text,
  -- Where the remote task of the run's attempt can be cancelled; null when there is none.
  task_location text,
  -- The newest attempts that were followed by another one, or by the next slice; a reason is that of a failure.
  ended_attempts jsonb default '[]' not null,
  -- When the attempt under way, or the last one, started.
  attempt_started_at timestamptz(3),
  -- When the attempt under way times out. It stays when another worker continues the attempt.
  deadline_at timestamptz(3),
  -- Of a run that a worker has claimed through the API: the name of the worker, and when it claimed the run.
  claimed_by text,
  claimed_at timestamptz(3),
  slices integer default 0 not null,
  -- What the ended slices counted, and the slice under way so far: `{items, deleted, failed, bytes}`.
  counters jsonb default '{}' not null,
  slice_counters jsonb default '{}' not null,
  -- Whether the checkpoint has changed since the slice began.
  is_checkpoint_new boolean default false not null,
  -- The lease of a claim is random. Its hash is stored, and that of the claim whose slice was finished last, so that a
  -- worker may repeat the request that finished it.
  lease_hash bytea,
  finished_lease_hash bytea
) with (fillfactor=70);
create index runs_history on runs (org_id, connector, instance, id desc);
-- One run per instance of a connector at a time.
create unique index runs_in_progress on runs (org_id, connector, instance) where state in ('waiting', 'active', 'retrying');
-- What the dispatcher reads: claims that expire, and attempts that become due.
create index runs_claimed on runs (due_at) where state = 'active';
create index runs_retrying on runs (due_at) where state = 'retrying';
-- What a claim of the service's workers reads: the places of a connector that are taken, and its line.
create index runs_places on runs (connector) where state = 'active' and worker <> 'pull';
create index runs_line on runs (connector, due_at, id) where state in ('waiting', 'retrying') and worker <> 'pull';
-- What a worker that claims runs through the API reads.
create index runs_claimable on runs (org_id, due_at) where state in ('waiting', 'retrying') and worker = 'pull';
-- The same time never runs twice.
create unique index runs_tick on runs (schedule_id, tick);

-- What the worker of a run logged, at most 1,000 lines a run.
create table run_log (
  run_id uuid not null references runs on delete cascade,
  number integer not null,
  at timestamptz(3) not null,
  message text not null,
  primary key (run_id, number)
);

-- Remote tasks whose attempt ended although the endpoint did not say so. A row is deleted once its task is cancelled.
create table tasks_to_cancel (
  run_id uuid not null,
  location text not null,
  org_id uuid not null,
  connector text not null,
  -- The endpoint that has the task.
  endpoint_id uuid not null,
  request_id text not null,
  created_at timestamptz(3) not null,
  -- When a replica next tries to cancel it.
  due_at timestamptz(3) not null,
  primary key (run_id, location)
);
create index tasks_to_cancel_due on tasks_to_cancel (due_at);

-- What the runs of an instance leave behind for the next one. It outlives a replacement and a pause of the schedule.
create table connector_states (
  org_id uuid not null,
  connector text not null,
  instance text default 'default' not null,
  -- The JSON text that its worker sent: jsonb would change it, and numbers that a reader cannot hold must not change on the way.
  checkpoint text,
  -- Counts the checkpoint's changes.
  version integer default 0 not null,
  -- When a full crawl that has not completed yet started: the next full run continues it from the checkpoint.
  full_started_at timestamptz(3),
  -- When the last completed full crawl started.
  last_full_at timestamptz(3),
  last_completed_at timestamptz(3),
  consecutive_failures integer default 0 not null,
  last_failure text,
  -- When identity was last told that the runs keep failing; null once one has completed.
  noticed_at timestamptz(3),
  -- What its worker says of the source: {description, documents?, oldestAt?, newestAt?}.
  source jsonb,
  primary key (org_id, connector, instance)
) with (fillfactor=70);
-- What the metric of failing connectors reads.
create index connector_states_failing on connector_states (consecutive_failures) where consecutive_failures > 0;

-- What /stats can't count from an organisation's few schedules.
create table org_statistics (
  org_id uuid,
  connector text,
  completed bigint default 0 not null,
  failed bigint default 0 not null,
  primary key (org_id, connector)
) with (fillfactor=50);

-- When workers of an organisation last asked for runs of a connector, to the minute. The audit records the first request of
-- each credential, so workers are distinguished by theirs.
create table worker_sightings (
  org_id uuid not null,
  connector text not null,
  -- `*`: of all instances.
  instance text not null,
  seen_at timestamptz(3) not null,
  credential_id uuid not null,
  primary key (org_id, connector, instance, credential_id)
);

-- Facts -------------------------------------------------------------------------------------------

-- Facts that identity has not stored yet. A row is deleted once it has.
create table facts (
  id uuid primary key,
  org_id uuid not null,
  type text not null,
  data jsonb not null,
  created_at timestamptz(3) not null,
  -- When a replica next hands it to identity.
  due_at timestamptz(3) not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index facts_due on facts (due_at, id);

-- Creates a UUIDv7 of the time (RFC 9562): ids of audit entries are in the order of time. The version of a random one is
-- raised from 4 to 7 by its bits 52 and 53.
create function uuid_v7(at timestamptz) returns uuid language sql volatile as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from at) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$;

-- Sync events -------------------------------------------------------------------------------------

-- The outbox of packages/events, word for word: a test compares them.
create schema outbox;

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

--- Idempotency keys ---------------------------------------------------------------------------------

-- Requests that create something, each by its credential and the hash of its key. The response is encrypted, since
-- some have a secret that is shown once; a row without one is under way, or its outcome is unknown. Rows live for an hour.
create table idempotency_keys (
  org_id uuid not null,
  credential_id text not null,
  key_hash text not null,
  request_digest text not null,
  status smallint,
  sealed_body text,
  expires_at timestamptz(3) not null,
  primary key (org_id, credential_id, key_hash)
);
-- Expired ones are deleted by this.
create index idempotency_keys_expires_at on idempotency_keys (expires_at);
