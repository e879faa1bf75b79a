create type mail_state as enum ('pending', 'sent', 'failed', 'unknown');

-- What the paged list counts: a count(*) would read what grows.
create table mail_counters (
  org_id uuid primary key,
  sent bigint default 0 not null
) with (fillfactor=50);

-- The journal: a row is written before the SMTP server hears of the mail. What reached the state
-- `sent` is the mail record.
create table mails (
  id uuid primary key,
  org_id uuid not null,
  state mail_state default 'pending' not null,
  sender_id uuid not null,
  subject text not null,
  from_address text not null,
  to_addresses text[] not null,
  cc_addresses text[] not null,
  refused_addresses text[] default '{}'::text[] not null,
  template_type text not null,
  idempotency_key text,
  request_digest text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- Why a mail failed, or may have: codes only, never a server's words.
  problem jsonb,
  encrypted_request text,
  -- Lists say so without reading letters.
  can_resend boolean default false not null,
  -- Recipients to erase as soon as the mail is no longer under way.
  addresses_to_erase text[] default '{}'::text[] not null,
  -- A recipient was erased, or will be: from then on no letter of the mail is kept, and it isn't sent again.
  recipient_erased boolean default false not null,
  -- What of the data of a mail is shown to administrators: without codes and links, and encrypted.
  content_sealed text,
  constraint key_has_digest check ((idempotency_key is null) = (request_digest is null))
);
-- Finds the contents whose time is over.
create index mails_contents_to_expire on mails (created_at) where content_sealed is not null;
create unique index mails_idempotency on mails (org_id, idempotency_key) where idempotency_key is not null;
create index mails_keys_to_forget on mails (created_at) where idempotency_key is not null;
-- What administrators list, newest first: each state and template is a range of ids of its own.
create index mails_of_org on mails (org_id, state, template_type, id);
create index mails_pending on mails (sender_id) where state = 'pending';
-- Ids are UUIDv7: their order is the order of creation.
create index mails_sent on mails (org_id, id) where state = 'sent';
create index mails_to_erase on mails (id) where addresses_to_erase <> '{}'::text[];
-- What wasn't sent is deleted some weeks later, in this order.
create index mails_unsent on mails (created_at) where state in ('failed', 'unknown');

-- By whom a mail is found and erased. Addresses in lower case.
create table mail_recipients (
  org_id uuid not null,
  address text not null,
  mail_id uuid not null references mails on delete cascade,
  primary key (org_id, address, mail_id)
);
create index mail_recipients_of_mail on mail_recipients (mail_id);

-- A process that sends. It says "still here" every few seconds; what a silent one left pending is
-- unknown: nobody can tell whether the SMTP server took it.
create table senders (
  id uuid primary key,
  seen_at timestamptz(3) not null
);

-- Records are deleted when their time is over, or erased.
create function count_mails_deleted() returns trigger language plpgsql as $$
begin
  update mail_counters counters set sent = counters.sent - gone.count
  from (select org_id, count(*) as count from old_rows where state = 'sent' group by org_id) gone
  where counters.org_id = gone.org_id;
  return null;
end $$;

create trigger count_mails_deleted after delete on mails referencing old table as old_rows for each statement execute function count_mails_deleted();

create function count_mails_sent() returns trigger language plpgsql as $$
begin
  insert into mail_counters as counters (org_id, sent)
    select org_id, sum(change) from (
      select org_id, 1 as change from new_rows where state = 'sent'
      union all
      select org_id, -1 from old_rows where state = 'sent'
    ) changes group by org_id having sum(change) <> 0 order by org_id
  on conflict (org_id) do update set sent = counters.sent + excluded.sent;
  return null;
end $$;

create trigger count_mails_sent after update on mails referencing old table as old_rows new table as new_rows for each statement execute function count_mails_sent();

-- Whoever writes a mail: its recipients can be found and erased.
create function list_mail_recipients() returns trigger language plpgsql as $$
begin
  insert into mail_recipients (org_id, address, mail_id)
    select distinct org_id, lower(address), id from new_rows, unnest(to_addresses || cc_addresses) as address
  on conflict do nothing;
  return null;
end $$;

create trigger list_mail_recipients after insert on mails referencing new table as new_rows for each statement execute function list_mail_recipients();

-- What was sent stays sent.
create function keep_sent() returns trigger language plpgsql as $$
begin
  if old.state = 'sent' and new.state <> 'sent' then
    raise exception 'a sent mail stays sent';
  end if;
  return new;
end $$;

create trigger sent_is_kept before update on mails for each row execute function keep_sent();
