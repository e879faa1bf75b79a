-- A mail that was composed is no longer merged.
create index concurrently outgoing_mails_to_merge on outgoing_mails (user_id, merge_key)
  where merge_key is not null and letter_sealed is null;
