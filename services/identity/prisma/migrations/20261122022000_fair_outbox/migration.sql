-- Whose turn a mail waits for. It is found out when the outbox is read, not when somebody types an address: the answer to
-- that must not take longer for an account that exists. An address without an account has the organisation of all zeros.
alter table outgoing_mails add column org_id uuid;
create index outgoing_mails_unassigned on outgoing_mails (id) where org_id is null;

-- Organisations take turns, and mails that somebody waits for have slots of their own.
drop index outgoing_mails_due;
create index outgoing_mails_urgent on outgoing_mails (org_id, next_attempt_at)
  where kind in ('login_code', 'password_reset');
create index outgoing_mails_other on outgoing_mails (org_id, next_attempt_at)
  where kind not in ('login_code', 'password_reset');

-- Why the invitation of a member can't be delivered, as the SMTP server's codes tell it.
alter table users add column undeliverable_reason text;
