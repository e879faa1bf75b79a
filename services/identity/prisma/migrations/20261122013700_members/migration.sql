-- Is there another administrator who can log in? One who was invited and never accepted has no password.
drop index users_org_admins;
create index users_org_admins on users (org_id)
  where removed_at is null and role = 'admin' and password_hash is not null;

-- Invitations that nobody has accepted yet, the oldest first: they lapse in this order.
create index users_invited on users (created_at) where removed_at is null and password_hash is null;
