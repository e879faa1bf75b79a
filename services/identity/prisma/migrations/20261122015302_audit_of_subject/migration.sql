-- Ids are UUIDv7, so the entries are in the order of time.
create index concurrently audit_of_subject on audit_entries (org_id, subject_id, id);
