-- The history of an organisation's tokens, newest first. Active ones are in `tokens_of_org`.
create index concurrently ended_tokens_of_org on personal_access_tokens (org_id, id) where status <> 'active';
