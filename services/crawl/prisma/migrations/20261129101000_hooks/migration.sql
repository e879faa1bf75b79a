-- A source that has changed asks for a run through a hook.
alter type run_trigger add value 'hook';

-- How a request to a hook is verified.
create type hook_kind as enum ('github', 'gitlab', 'standard_webhooks', 'bearer');

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

-- When the run is due that hooks have asked for; null while none has. It waits for the run in progress.
alter table schedules add column ring_due_at timestamptz(3);
create index schedules_rung on schedules (ring_due_at) where ring_due_at is not null;
