-- The refresh tokens of a grant form generations: those that replaced the same token, in its overlap, are of one generation
-- and are superseded together. `refresh_generation` is the newest, and `refreshed_at` is when the one before was first used.
-- Replicas of the previous version leave both as they are, and mark single tokens instead.
alter table oauth_grants
  add column refresh_generation integer not null default 0,
  add column refreshed_at timestamptz(3);
