-- compatible-with: 20261127000020_reference_of_mails
-- While very many mails are due, codes are found by themselves: they wait for no turn of their organisation.
create index concurrently mails_queued_codes on mails (org_id, next_attempt_at) where state = 'queued' and lane = 0;
