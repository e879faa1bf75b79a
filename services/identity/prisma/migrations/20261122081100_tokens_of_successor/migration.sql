-- A revocation includes the predecessors of a token that still work.
create index concurrently tokens_of_successor on personal_access_tokens (successor_id)
  where status = 'active' and successor_id is not null;
