-- Is there another administrator who can log in? One who was invited and never accepted has no password.
create index concurrently users_org_admins on users (org_id)
  where removed_at is null and role = 'admin' and password_hash is not null;
