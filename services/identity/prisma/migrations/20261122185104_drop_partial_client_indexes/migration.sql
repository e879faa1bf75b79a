-- The indexes of all tokens and secrets of a client replace those of the ones that are not revoked.
drop index oauth_access_tokens_of_client;
drop index oauth_secrets_of_client;
