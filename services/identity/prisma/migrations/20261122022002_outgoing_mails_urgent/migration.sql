-- Organisations take turns, and mails that somebody waits for have slots of their own.
create index concurrently outgoing_mails_urgent on outgoing_mails (org_id, next_attempt_at)
  where kind in ('login_code', 'password_reset');
