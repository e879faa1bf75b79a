create index concurrently outgoing_mails_unassigned on outgoing_mails (id) where org_id is null;
