-- compatible-with: 20261124000000_initial
-- Sessions of an organisation that end together: a session is over when its generation is not the organisation's any more.
-- Null: the session was not opened that way, or by an older program while both run.
alter table organisations
  add column provider_generation integer default 0 not null,
  add column single_factor_generation integer default 0 not null;
alter table sessions
  -- Of sessions that the identity provider opened.
  add column provider_generation integer,
  -- Of sessions that were opened without a second factor.
  add column single_factor_generation integer;
