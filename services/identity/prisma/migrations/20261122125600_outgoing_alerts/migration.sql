-- Alerts about tokens have slots of their own, so that no other notice waits for them.
create index concurrently outgoing_mails_alerts on outgoing_mails (org_id, next_attempt_at) where kind = 'token_alert';
