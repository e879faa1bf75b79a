-- What the services of the platform were given, so that a leaked signing key forges none of it. A row
-- lives as long as its credential: minutes.
create table service_credentials (
  id uuid primary key,
  client_id text not null,
  token_hash text not null,
  expires_at timestamptz(3) not null
);
create index service_credentials_expiry on service_credentials (expires_at);

-- The cleaner of the rate limits deletes by this.
create index rate_limits_expire on rate_limits (expire);
