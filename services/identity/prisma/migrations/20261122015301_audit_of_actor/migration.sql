-- Ids are UUIDv7, so the entries are in the order of time.
create index concurrently audit_of_actor on audit_entries (org_id, actor_id, id);
