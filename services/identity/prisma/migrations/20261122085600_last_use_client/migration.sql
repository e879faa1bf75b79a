-- Where a token was used from last, and with which program.
alter table token_last_used add column address text, add column user_agent text;
