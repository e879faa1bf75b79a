-- compatible-with: 20261124000000_initial
-- The tokens of a member that expire next.
create index concurrently tokens_of_owner_by_expiry on personal_access_tokens (owner_id, (coalesce(expires_at, 'infinity')), id) where status = 'active';
