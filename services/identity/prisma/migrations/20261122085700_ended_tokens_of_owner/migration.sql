-- The history of an owner's tokens, newest first. Active ones are in `tokens_of_owner`.
create index concurrently ended_tokens_of_owner on personal_access_tokens (owner_id, id) where status <> 'active';
