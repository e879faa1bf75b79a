-- The active tokens of a service account, newest first. Members' tokens aren't in it.
create index concurrently tokens_of_service_account on personal_access_tokens (service_account_id, id) include (expires_at)
  where status = 'active' and service_account_id is not null;
