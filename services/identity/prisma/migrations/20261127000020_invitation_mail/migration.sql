-- compatible-with: 20261124000000_initial
-- The mail of the outbox that invites the member, until it was sent. The mail service reports what became of it.
alter table users add column invitation_mail_id uuid;
