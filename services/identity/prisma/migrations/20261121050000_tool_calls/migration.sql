-- Calls of remote tools: what a credential was used for. Ids are UUIDv7 of the time of the call, so
-- their order is that of time: pages and the retention need no index on a time. No foreign keys:
-- rows come in batches off the request path, and outlive the sessions that they name.
create table tool_calls (
  id uuid primary key,
  org_id uuid not null,
  user_id uuid not null,
  credential_kind text not null,
  credential_id uuid not null,
  tool text not null,
  outcome text not null,
  duration_ms integer not null,
  request_id text not null,
  client text,
  created_at timestamptz(3) not null
);
create index tool_calls_of_credential on tool_calls (credential_id, id);

-- Rows are written once; the retention deletes them.
create trigger tool_calls_are_kept before update or truncate on tool_calls
  for each statement execute function refuse_change();
