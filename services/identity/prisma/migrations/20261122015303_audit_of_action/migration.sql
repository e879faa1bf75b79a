-- Ids are UUIDv7, so the entries are in the order of time.
create index concurrently audit_of_action on audit_entries (org_id, action, id);
