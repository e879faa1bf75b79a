create index concurrently outgoing_mails_thefts on outgoing_mails (org_id, next_attempt_at)
  where kind = 'token_alert' and reports_theft;
