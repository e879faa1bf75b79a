-- Whoever writes a mail, a replica of the previous version as well: its recipients can be found and erased.
create function list_mail_recipients() returns trigger language plpgsql as $$
begin
  insert into mail_recipients (org_id, address, mail_id)
    select distinct org_id, lower(address), id from new_rows, unnest(to_addresses || cc_addresses) as address
  on conflict do nothing;
  return null;
end $$;
create trigger list_mail_recipients after insert on mails
  referencing new table as new_rows for each statement execute function list_mail_recipients();
