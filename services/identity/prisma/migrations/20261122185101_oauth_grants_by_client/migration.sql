-- Whether a client has a connection at all, which its deletion asks: the index of its live ones doesn't say that.
create index concurrently oauth_grants_by_client on oauth_grants (client_id);
