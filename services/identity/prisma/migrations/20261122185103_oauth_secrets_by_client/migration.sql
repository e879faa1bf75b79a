-- Replaces the index of those that are not revoked: deleting a client asks for all.
create index concurrently oauth_secrets_by_client on oauth_client_secrets (client_id);
