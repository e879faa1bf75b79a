-- Disabling an application revokes its access tokens.
create index concurrently oauth_access_tokens_of_client on oauth_access_tokens (client_id) where revoked_at is null;
