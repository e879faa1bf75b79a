create type mail_state as enum ('queued', 'sending', 'sent', 'failed', 'unknown');

-- The journal is the queue: a mail is a row with its request from the moment that it is accepted. A mail goes
-- from `queued` to `sending` and back for each attempt, and ends as `sent`, `failed` or `unknown`. The mails in the state
-- `sent` are the mail records.
create table mails (
  id uuid primary key,
  org_id uuid not null,
  state mail_state not null,
  -- Within the organisation, most urgent first: 0 codes, 1 notices, 2 everything else.
  priority smallint not null,
  -- A caller waits for the outcome. What has not begun when nobody waits any more is withdrawn, not sent later.
  caller_waits boolean not null,
  -- Counts the claims: a write of an earlier one takes no effect.
  claim integer default 0 not null,
  lease_until timestamptz(3),
  -- The SMTP server may have the message from now on.
  data_begun boolean default false not null,
  attempts integer default 0 not null,
  -- Attempts after which nobody knows whether the mail was accepted.
  unknown_attempts integer default 0 not null,
  -- An unknown outcome is followed by another attempt: the mail is a code or a security notice.
  at_least_once boolean default false not null,
  next_attempt_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  subject text not null,
  from_address text not null,
  to_addresses text[] not null,
  cc_addresses text[] not null,
  template_type text not null,
  idempotency_key text,
  request_digest text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- Why the last attempt failed: codes only, never a server's words.
  problem jsonb,
  -- The request, encrypted. It is deleted with the outcome, unless the mail can be sent again.
  sealed_request text,
  -- The request is kept when the mail fails or is unknown, so that an administrator can send it again.
  can_resend boolean default false not null,
  -- What of the data of a mail is shown to administrators: without codes and links, and encrypted.
  sealed_content text,
  -- The size of what is encrypted, with the attachments, while the mail is queued.
  stored_bytes integer default 0 not null,
  -- Recipients to erase as soon as the mail is no longer in progress. They get no further attempt.
  addresses_to_erase text[] default '{}'::text[] not null,
  -- A recipient was erased, or will be: from then on nothing of the content is kept, and the mail is not sent again.
  recipient_erased boolean default false not null,
  -- The name by which identity knows a mail that it sent: the idempotency key of the first request. A mail that an
  -- administrator sends again keeps it, although the key may have expired.
  reference text,
  -- The member or service account whose credential sent it; null for the platform. A mail that is sent again keeps it.
  sender_id uuid,
  constraint key_has_digest check ((idempotency_key is null) = (request_digest is null)),
  constraint sending_has_lease check ((state = 'sending') = (lease_until is not null))
);
create index mails_contents_to_expire on mails (created_at) where sealed_content is not null;
create unique index mails_idempotency on mails (org_id, idempotency_key) where idempotency_key is not null;
create index mails_keys_to_expire on mails (created_at) where idempotency_key is not null;
-- What administrators list, newest first: each state and template is a range of ids of its own.
create index mails_of_org on mails (org_id, state, template_type, id);
create index mails_due on mails (next_attempt_at) where state = 'queued';
create index mails_queued on mails (org_id, priority, next_attempt_at) include (stored_bytes) where state = 'queued';
-- While very many mails are due, codes are found by themselves: they wait for no turn of their organisation.
create index mails_queued_codes on mails (org_id, next_attempt_at) where state = 'queued' and priority = 0;
create index mails_queued_to_expire on mails (expires_at) where state = 'queued';
create index mails_sending on mails (lease_until) where state = 'sending';
create index mails_to_erase on mails (id) where addresses_to_erase <> '{}'::text[];
-- What wasn't sent is deleted some weeks later, in this order.
create index mails_unsent on mails (created_at) where state in ('failed', 'unknown');

-- By whom a mail is found and erased, and what became of it for each of them. Addresses in lower case.
create table mail_recipients (
  org_id uuid not null,
  address text not null,
  mail_id uuid not null references mails on delete cascade,
  -- 'accepted', 'deferred', 'refused' or 'suppressed'. Null is what the state of the mail says.
  outcome text,
  -- The enhanced status code of the SMTP server (RFC 3463), or else its reply code.
  status text,
  primary key (org_id, address, mail_id)
);
create index mail_recipients_of_mail on mail_recipients (mail_id);

-- Lists the recipients of every mail, whichever statement stores it, so that they can be found and erased.
create function list_mail_recipients() returns trigger language plpgsql as $$
begin
  insert into mail_recipients (org_id, address, mail_id)
    select distinct org_id, lower(address), id from new_rows, unnest(to_addresses || cc_addresses) as address
  on conflict do nothing;
  return null;
end $$;

create trigger list_mail_recipients after insert on mails referencing new table as new_rows for each statement execute function list_mail_recipients();

-- Attachments of queued mails, in encrypted pieces that are read while the mail is sent.
create table mail_attachments (
  mail_id uuid not null references mails on delete cascade,
  attachment smallint not null,
  piece integer not null,
  sealed bytea not null,
  primary key (mail_id, attachment, piece)
);
-- Encrypted data cannot be compressed.
alter table mail_attachments alter column sealed set storage external;

-- What the mails of an organisation look like.
create table brands (
  org_id uuid primary key,
  name text,
  logo bytea,
  accent_color text,
  footer text,
  reply_to text,
  updated_at timestamptz(3) not null,
  -- Of mails whose request names no language. Null is English.
  language text,
  constraint logo_is_small check (length(logo) <= 65536)
);

-- Access tokens of SMTP servers that want OAuth, each requested by one replica for all.
create table smtp_tokens (
  org_id uuid not null,
  -- An HMAC of the user name and the sign-in that is configured: a changed one begins anew.
  fingerprint text not null,
  sealed_token text,
  issued_at timestamptz(3),
  -- When the next one is due.
  refresh_at timestamptz(3),
  expires_at timestamptz(3),
  -- The newest refresh token of a provider that issues another one with each access token.
  sealed_refresh_token text,
  -- Why the last request failed: a code.
  problem text,
  failed_at timestamptz(3),
  -- A replica requests a token until then.
  fetching_until timestamptz(3),
  updated_at timestamptz(3) not null,
  primary key (org_id, fingerprint),
  constraint token_has_times check ((sealed_token is null) = (num_nulls(issued_at, refresh_at, expires_at) = 3))
);

-- Addresses that get no mail of an organisation, apart from codes, resets and invitations. In lower case.
create table suppressions (
  id uuid primary key,
  org_id uuid not null,
  address text not null,
  -- 'refused' by the SMTP server, reported as a 'bounce' or a 'complaint', or added by an 'administrator'.
  reason text not null,
  -- The enhanced status code (RFC 3463), when there was one.
  status text,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create unique index suppressions_of_address on suppressions (org_id, address);
create index suppressions_of_org on suppressions (org_id, id);
create index suppressions_to_expire on suppressions (expires_at);

-- Facts that identity has not stored yet. A row is deleted once it has.
create table facts (
  id uuid primary key,
  org_id uuid not null,
  type text not null,
  data jsonb not null,
  created_at timestamptz(3) not null,
  -- When a replica next hands it to identity.
  due_at timestamptz(3) not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index facts_due on facts (due_at, id);

-- Creates a UUIDv7 of the time (RFC 9562): ids of audit entries are in the order of time. The version of a random one is
-- raised from 4 to 7 by its bits 52 and 53.
create function uuid_v7(at timestamptz) returns uuid language sql volatile as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from at) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$;
