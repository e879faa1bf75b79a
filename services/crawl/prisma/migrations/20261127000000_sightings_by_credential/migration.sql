-- The audit records the first request of each credential, so workers are told apart by it. That of earlier rows is not known.
alter table worker_sightings add column credential_id uuid not null default '00000000-0000-0000-0000-000000000000';
alter table worker_sightings
  drop constraint worker_sightings_pkey,
  add primary key (org_id, connector, instance, credential_id);
