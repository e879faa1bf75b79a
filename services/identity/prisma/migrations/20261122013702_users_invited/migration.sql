-- Invitations that nobody has accepted yet, the oldest first: they expire in this order.
create index concurrently users_invited on users (created_at) where removed_at is null and password_hash is null;
