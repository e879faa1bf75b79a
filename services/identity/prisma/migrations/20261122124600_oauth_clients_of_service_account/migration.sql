-- The application of a service account.
create index concurrently oauth_clients_of_service_account on oauth_clients (service_account_id) where service_account_id is not null;
