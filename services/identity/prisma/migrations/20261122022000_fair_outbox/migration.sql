-- Whose turn a mail waits for. It is found out when the outbox is read, not when somebody types an address: the answer to
-- that must not take longer for an account that exists. An address without an account has the organisation of all zeros.
alter table outgoing_mails add column org_id uuid;

-- Why the invitation of a member can't be delivered, as the SMTP server's codes tell it.
alter table users add column undeliverable_reason text;
