-- Why a mail failed, or may have: codes only, never a server's words.
alter table mails add column problem jsonb;

-- What administrators list, newest first: each state and template is a range of ids of its own.
create index mails_of_org on mails (org_id, state, template_type, id);

-- By whom a mail is found and erased. Addresses in lower case.
create table mail_recipients (
  org_id uuid not null,
  address text not null,
  mail_id uuid not null references mails (id) on delete cascade,
  primary key (org_id, address, mail_id)
);
create index mail_recipients_of_mail on mail_recipients (mail_id);
insert into mail_recipients (org_id, address, mail_id)
  select distinct org_id, lower(address), id from mails, unnest(to_addresses || cc_addresses) as address;

-- Records are deleted when their time is over, or erased.
create function count_mails_deleted() returns trigger language plpgsql as $$
begin
  update mail_counters counters set sent = counters.sent - gone.count
  from (select org_id, count(*) as count from old_rows where state = 'sent' group by org_id) gone
  where counters.org_id = gone.org_id;
  return null;
end $$;
create trigger count_mails_deleted after delete on mails
  referencing old table as old_rows for each statement execute function count_mails_deleted();
