-- Where a session was opened, so that its owner recognises it. Older sessions, and those that a replica of the previous
-- version opens, have none.
alter table sessions
  add column address text,
  add column user_agent text;
