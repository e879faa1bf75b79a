-- The history of a service account's tokens, newest first. Active ones are in `tokens_of_service_account`.
create index concurrently ended_tokens_of_service_account on personal_access_tokens (service_account_id, id)
  where status <> 'active' and service_account_id is not null;
