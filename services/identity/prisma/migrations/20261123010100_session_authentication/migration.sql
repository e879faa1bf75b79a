-- When the member last entered the password in a session or signed in at the provider for it; null: when it was opened.
alter table sessions add column authenticated_at timestamptz(3);

-- Whether a browser was given the session. Replicas of the version before leave it out.
alter table sessions add column is_browser boolean not null default false;
