-- What a mail that failed said, encrypted, so that an administrator can have it sent again.
alter table mails
  add column letter_sealed text,
  -- Lists say so without reading letters.
  add column can_resend boolean not null default false;
