-- A family is walked from a token down through those that live.
create index concurrently tokens_of_parent on personal_access_tokens (parent_id) where status = 'active' and parent_id is not null;
