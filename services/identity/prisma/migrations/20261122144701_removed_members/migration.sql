-- Was the owner of this address a member before? Then no provider makes them one again.
create index concurrently users_removed_email on users (email) where removed_at is not null;
