-- What was written before the trigger was there. In a transaction of its own: creating the trigger locks the table.
insert into mail_recipients (org_id, address, mail_id)
  select distinct org_id, lower(address), id from mails, unnest(to_addresses || cc_addresses) as address
  where not exists (select from mail_recipients where mail_id = mails.id)
on conflict do nothing;
