-- The mails that nobody waits for.
create index concurrently outgoing_mails_other on outgoing_mails (org_id, next_attempt_at)
  where kind not in ('login_code', 'password_reset');
