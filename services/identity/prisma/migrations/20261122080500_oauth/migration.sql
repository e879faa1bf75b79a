-- Accounts of an organisation that are no person: applications and scripts act as them.
create table service_accounts (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  name text not null,
  role role not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  removed_at timestamptz(3)
);
create index service_accounts_of_org on service_accounts (org_id, id) where removed_at is null;

-- OAuth clients: the applications that administrators register ('application'), clients that are described by the
-- document at their id ('document', client id metadata documents), and those that registered themselves
-- ('registered', RFC 7591). Only an application belongs to an organisation.
create table oauth_clients (
  id text primary key,
  kind text not null check (kind in ('application', 'document', 'registered')),
  org_id uuid references organisations (id),
  name text not null,
  redirect_uris text[] not null,
  grant_types text[] not null,
  scopes text[] not null,
  auth_method text not null check (auth_method in ('none', 'client_secret_basic', 'private_key_jwt')),
  jwks jsonb,
  service_account_id uuid references service_accounts (id),
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  disabled_at timestamptz(3),
  removed_at timestamptz(3),
  check ((kind = 'application') = (org_id is not null))
);
create index oauth_clients_of_org on oauth_clients (org_id, created_at) where removed_at is null;
create index oauth_clients_unused on oauth_clients (created_at) where kind = 'registered' and last_used_at is null;

-- An application has up to two secrets at once, so that it can change from one to the next.
create table oauth_client_secrets (
  id uuid primary key,
  client_id text not null references oauth_clients (id),
  secret_hash text not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);
create index oauth_secrets_of_client on oauth_client_secrets (client_id) where revoked_at is null;

-- What a member has allowed a client: a connected app.
create table oauth_grants (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  user_id uuid not null references users (id),
  client_id text not null references oauth_clients (id),
  resource text not null,
  scopes text[] not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  last_address text,
  revoked_at timestamptz(3),
  revoked_by uuid references users (id),
  revoked_reason text
);
create index oauth_grants_of_user on oauth_grants (user_id, id) where revoked_at is null;
create index oauth_grants_of_org on oauth_grants (org_id, id) where revoked_at is null;
create index oauth_grants_of_client on oauth_grants (client_id, id) where revoked_at is null;
create index oauth_grants_expiry on oauth_grants (expires_at);

-- One row for each access token, written before the token is answered: it lives for minutes. Exactly one of the grant
-- of a member and the service account owns it. One with a parent was exchanged for it and ends with it.
create table oauth_access_tokens (
  id uuid primary key,
  client_id text not null references oauth_clients (id),
  grant_id uuid references oauth_grants (id),
  service_account_id uuid references service_accounts (id),
  parent_id uuid,
  scopes text[] not null,
  audiences text[] not null,
  token_hash text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  check ((grant_id is null) <> (service_account_id is null))
);
create index oauth_access_tokens_expiry on oauth_access_tokens (expires_at);
create index oauth_access_tokens_of_parent on oauth_access_tokens (parent_id) where parent_id is not null;

-- The state of the authorization server: interactions, authorization codes, refresh tokens, used assertions. The key is
-- the SHA-256 of the secret value.
create table oauth_artifacts (
  model text not null,
  id_hash text not null,
  grant_id uuid references oauth_grants (id),
  payload jsonb not null,
  expires_at timestamptz(3) not null,
  consumed_at timestamptz(3),
  primary key (model, id_hash)
);
create index oauth_artifacts_of_grant on oauth_artifacts (grant_id);
create index oauth_artifacts_expiry on oauth_artifacts (expires_at);

-- The client that a tool call was made through.
alter table tool_calls add column client_id text;
