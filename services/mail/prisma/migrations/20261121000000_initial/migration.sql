create type mail_state as enum ('pending', 'sent', 'failed', 'unknown');

-- A process that sends. It says "still here" every few seconds; what a silent one left pending is
-- unknown: nobody can tell whether the SMTP server took it.
create table senders (
  id uuid primary key,
  seen_at timestamptz(3) not null
);

-- The journal: a row is written before the SMTP server hears of the mail. What reached the state
-- `sent` is the mail record.
create table mails (
  id uuid primary key,
  org_id uuid not null,
  state mail_state not null default 'pending',
  sender_id uuid not null,
  subject text not null,
  from_address text not null,
  to_addresses text[] not null,
  cc_addresses text[] not null,
  refused_addresses text[] not null default '{}',
  template_type text not null,
  idempotency_key text,
  request_digest text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint key_has_digest check ((idempotency_key is null) = (request_digest is null))
);
create unique index mails_idempotency on mails (org_id, idempotency_key) where idempotency_key is not null;
create index mails_keys_to_forget on mails (created_at) where idempotency_key is not null;
-- Ids are UUIDv7: their order is the order of creation.
create index mails_sent on mails (org_id, id) where state = 'sent';
create index mails_pending on mails (sender_id) where state = 'pending';

-- What the paged list counts: a count(*) would read what grows.
create table mail_counters (
  org_id uuid primary key,
  sent bigint not null default 0
) with (fillfactor = 50);

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
create trigger count_mails_sent after update on mails
  referencing old table as old_rows new table as new_rows for each statement execute function count_mails_sent();

-- What was sent stays sent.
create function keep_sent() returns trigger language plpgsql as $$
begin
  if old.state = 'sent' and new.state <> 'sent' then
    raise exception 'a sent mail stays sent';
  end if;
  return new;
end $$;
create trigger sent_is_kept before update on mails for each row execute function keep_sent();
