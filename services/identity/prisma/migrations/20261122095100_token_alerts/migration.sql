-- When the owner was last told that the token was used after its rotation.
alter table personal_access_tokens add column reuse_reported_at timestamptz(3);

-- Tokens that were reported as leaked, until they are revoked. A report of something else has no token, and is dropped.
create table leak_reports (
  id uuid primary key,
  token_id uuid not null,
  digest text not null,
  url text,
  created_at timestamptz(3) not null
);

-- The mail about a token that leaked or was used after its rotation. `not valid` leaves the rows unread: a new rule that
-- accepts more than the old one cannot be violated by them.
alter table outgoing_mails drop constraint outgoing_mails_kind_check;
alter table outgoing_mails add constraint outgoing_mails_kind_check check (kind in
  ('login_code', 'password_reset', 'invitation', 'account_created', 'suspicious_login', 'smtp_changed',
   'password_changed', 'token_alert')) not valid;
