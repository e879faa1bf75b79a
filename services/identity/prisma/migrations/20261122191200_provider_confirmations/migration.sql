-- A member can confirm a change of the own second factor with a fresh sign-in at the provider, in place of the password.
-- When the session was confirmed so; null again once a change has used it.
alter table sessions add column confirmed_at timestamptz(3);

-- The session that a sign-in at the provider is to confirm; null for one that opens a session.
alter table provider_sign_ins add column session_id uuid;
