-- The clients that describe themselves by their last use: those that nobody connects any more are deleted.
create index concurrently oauth_clients_idle on oauth_clients ((coalesce(last_used_at, created_at)))
  where kind <> 'application' and disabled_at is null;
