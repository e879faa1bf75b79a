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
-- It is not known which of the open sessions had a second factor: they all end with those that lack one.
update sessions set
  provider_generation = case when first_factor = 'provider' then 0 end,
  single_factor_generation = 0
where ended_at is null;
