-- With which credential, from where and with which program, and what was changed: {"field": {"from", "to"}}.
alter table audit_entries
  add column credential_kind text,
  add column credential_id uuid,
  add column address text,
  add column user_agent text,
  add column changes jsonb not null default '{}';

-- Ids are UUIDv7s of the time of the entry, so each of these is in the order of time, too.
create index audit_of_actor on audit_entries (org_id, actor_id, id);
create index audit_of_subject on audit_entries (org_id, subject_id, id);
create index audit_of_action on audit_entries (org_id, action, id);

-- Entries are written once. The retention deletes old ones, and nothing deletes what is younger than 30 days.
drop trigger audit_is_append_only on audit_entries;
create trigger audit_is_append_only before update or truncate on audit_entries
  for each statement execute function refuse_change();

create function refuse_deleting_young_entries() returns trigger language plpgsql as $$
begin
  if exists (select from old_rows where created_at > now() - interval '30 days') then
    raise exception 'audit_entries is append-only: entries of the last 30 days are kept';
  end if;
  return null;
end $$;
create trigger young_entries_are_kept after delete on audit_entries
  referencing old table as old_rows for each statement execute function refuse_deleting_young_entries();

create function uncount_audit_entries() returns trigger language plpgsql as $$
begin
  insert into organisation_counters as counters (org_id, audit_entries)
    select org_id, -count(*) from old_rows group by org_id order by org_id
  on conflict (org_id) do update set audit_entries = counters.audit_entries + excluded.audit_entries;
  return null;
end $$;
create trigger uncount_audit_entries after delete on audit_entries
  referencing old table as old_rows for each statement execute function uncount_audit_entries();
