-- Deleting ended grants looks for access tokens that name them.
create index concurrently oauth_access_tokens_of_grant on oauth_access_tokens (grant_id) where grant_id is not null;
