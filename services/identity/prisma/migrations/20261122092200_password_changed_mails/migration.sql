-- The mail that tells a member that the password was changed. `not valid` leaves the rows unread: a new rule that accepts
-- more than the old one cannot be violated by them.
alter table outgoing_mails drop constraint outgoing_mails_kind_check;
alter table outgoing_mails add constraint outgoing_mails_kind_check check (kind in
  ('login_code', 'password_reset', 'invitation', 'account_created', 'suspicious_login', 'smtp_changed',
   'password_changed')) not valid;
