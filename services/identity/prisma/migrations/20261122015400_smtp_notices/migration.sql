-- What tells the administrators that the SMTP server was changed.
alter table outgoing_mails drop constraint outgoing_mails_kind_check;
alter table outgoing_mails add constraint outgoing_mails_kind_check check (kind in
  ('login_code', 'password_reset', 'invitation', 'account_created', 'suspicious_login', 'smtp_changed'));
