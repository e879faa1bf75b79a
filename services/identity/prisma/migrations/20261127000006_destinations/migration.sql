-- compatible-with: 20261124000000_initial
-- Where an organisation's facts are sent. A destination has a place in the outbox: what is before it was sent, or is a
-- delivery that waits for another attempt.
create table fact_destinations (
  id uuid primary key,
  org_id uuid not null references organisations,
  form text not null,
  url text not null,
  description text not null,
  -- Empty for all types.
  types text[] not null,
  -- What signs the requests of a webhook, and what signed them before; for logs, the value of the header.
  secret_sealed text,
  previous_secret_sealed text,
  previous_secret_until timestamptz(3),
  secret_header text,
  is_enabled boolean default true not null,
  disabled_reason text,
  position bigint not null,
  -- While a replica sends, no other one does.
  claimed_until timestamptz(3),
  served_at timestamptz(3) not null,
  -- Whether it has accepted something, and goes on to.
  is_accepting boolean default false not null,
  -- How often nothing was accepted since something last was, when that began, and until when nothing is sent.
  failures integer default 0 not null,
  failing_since timestamptz(3),
  resume_at timestamptz(3),
  created_at timestamptz(3) not null,
  constraint fact_destinations_form_check check (form in ('webhook', 'logs')),
  constraint fact_destinations_secret_check check (form = 'logs' or (secret_sealed is not null and secret_header is null)),
  constraint fact_destinations_header_check check (form = 'webhook' or (secret_sealed is null) = (secret_header is null))
);
create index fact_destinations_of_org on fact_destinations (org_id, id);
create index fact_destinations_enabled on fact_destinations (served_at) where is_enabled;

-- What was sent or waits to be sent again: a fact to a webhook, or a range of them as logs. The facts are in the outbox.
create table fact_deliveries (
  id uuid primary key,
  -- Those of a removed destination are deleted by their age.
  destination_id uuid not null,
  org_id uuid not null,
  -- The fact; null for a range.
  fact_id uuid,
  type text,
  facts integer not null,
  first_position bigint not null,
  last_position bigint not null,
  state text not null,
  -- Since it was last asked for.
  attempt_count smallint not null,
  -- The last ones: {at, status, fault, durationMs}.
  attempts jsonb not null,
  next_attempt_at timestamptz(3),
  created_at timestamptz(3) not null,
  constraint fact_deliveries_state_check check (state in ('waiting', 'delivered', 'failed')),
  constraint fact_deliveries_waiting_check check ((state = 'waiting') = (next_attempt_at is not null))
);
create index fact_deliveries_of_destination on fact_deliveries (destination_id, id);
create index fact_deliveries_waiting on fact_deliveries (destination_id, next_attempt_at) where state = 'waiting';
create index fact_deliveries_undelivered on fact_deliveries (destination_id, state, id) where state <> 'delivered';
create index fact_deliveries_by_age on fact_deliveries (created_at);
