-- The day (since 1970-01-01, UTC) on which each scope was last used.
alter table token_last_used add column scope_days jsonb not null default '{}';
