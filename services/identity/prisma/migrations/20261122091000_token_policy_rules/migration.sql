alter table token_policies
  add column max_lifetime_days integer check (max_lifetime_days between 1 and 3650),
  add column allows_never boolean not null default true,
  add column denied_scopes text[] not null default '{}';
