alter table personal_access_tokens
  -- How many of the notices about its expiry are done: 14, 7 and 1 days before, and afterwards.
  add column expiry_notices smallint not null default 0,
  -- Whether its owner has muted them.
  add column mutes_notices boolean not null default false;

-- The day of the last digest about the tokens of a member, or of an organisation's service accounts: there is one a day.
create table token_digests (
  holder_id uuid primary key,
  day date not null
);

-- The mail about tokens that expire. `not valid` leaves the rows unread: a new rule that accepts more than the old one
-- cannot be violated by them.
alter table outgoing_mails drop constraint outgoing_mails_kind_check;
alter table outgoing_mails add constraint outgoing_mails_kind_check check (kind in
  ('login_code', 'password_reset', 'invitation', 'account_created', 'suspicious_login', 'smtp_changed',
   'password_changed', 'token_alert', 'token_expiring')) not valid;
