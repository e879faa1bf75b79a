alter table mails
  -- Recipients to erase as soon as the mail is no longer under way.
  add column addresses_to_erase text[] not null default '{}',
  -- A recipient was erased, or will be: from then on no letter of the mail is kept, and it isn't sent again.
  add column recipient_erased boolean not null default false;
