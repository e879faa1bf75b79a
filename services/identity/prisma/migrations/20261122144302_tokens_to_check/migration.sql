-- The tokens of an organisation by the time until which their use is known. A rotated token ends by itself.
create index concurrently tokens_to_check on personal_access_tokens (org_id, use_checked_until)
  where status = 'active' and successor_id is null;
