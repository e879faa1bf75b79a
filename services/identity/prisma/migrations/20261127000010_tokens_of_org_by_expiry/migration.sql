-- compatible-with: 20261124000000_initial
-- An administrator looks for the tokens of the organisation that expire next.
create index concurrently tokens_of_org_by_expiry on personal_access_tokens (org_id, (coalesce(expires_at, 'infinity')), id) where status = 'active';
