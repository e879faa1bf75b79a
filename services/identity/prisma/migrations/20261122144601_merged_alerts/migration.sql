alter table outgoing_mails
  -- Alerts about a possible theft are claimed before all other mails, with slots of their own.
  add column reports_theft boolean not null default false,
  -- Waiting mails to one person with the same key are sent as one; null: by itself.
  add column merge_key text;
