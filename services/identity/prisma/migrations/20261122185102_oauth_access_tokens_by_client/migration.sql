-- Replaces the index of those that are not revoked: deleting a client asks for all.
create index concurrently oauth_access_tokens_by_client on oauth_access_tokens (client_id);
