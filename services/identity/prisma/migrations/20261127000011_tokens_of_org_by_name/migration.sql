-- compatible-with: 20261124000000_initial
-- The tokens of an organisation by name.
create index concurrently tokens_of_org_by_name on personal_access_tokens (org_id, lower(name), id) where status = 'active';
