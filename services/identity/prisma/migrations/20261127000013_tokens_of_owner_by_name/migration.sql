-- compatible-with: 20261124000000_initial
-- The tokens of a member by name.
create index concurrently tokens_of_owner_by_name on personal_access_tokens (owner_id, lower(name), id) where status = 'active';
