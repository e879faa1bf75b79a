-- Organisations and their accounts ----------------------------------------------------------------

create type role as enum ('admin', 'member');

-- The tenants. Every other row belongs to one of them, directly or through its owner.
create table organisations (
  id uuid primary key,
  name text not null,
  created_at timestamptz(3) not null,
  -- Whether members can sign in with mailed codes.
  codes_enabled boolean default true not null,
  -- Whether members need a second factor to sign in.
  second_factor_required boolean default false not null,
  -- The generations of the sessions that are open: a session is over when its generation is no longer that of its
  -- organisation. One counts the sessions that the identity provider opened, one those without a second factor.
  provider_generation integer default 0 not null,
  single_factor_generation integer default 0 not null
);

-- The members of an organisation. The row of a removed member stays, because tokens and the audit name it.
create table users (
  id uuid primary key,
  org_id uuid not null references organisations,
  email text not null,
  full_name text not null,
  role role not null,
  password_hash text,
  created_at timestamptz(3) not null,
  removed_at timestamptz(3),
  -- Why the invitation cannot be delivered, by the codes of the SMTP server.
  undeliverable_reason text,
  -- Whether nobody knows if the invitation was delivered: `undeliverable_reason` then names no refusal.
  is_delivery_unknown boolean default false not null,
  -- Of the mails to the member. Null: the language of the organisation's mails.
  language text,
  -- The outgoing mail that invites the member, until it is sent. The mail service reports its outcome.
  invitation_mail_id uuid,
  constraint users_email_lower check (email = lower(email))
);
create unique index users_email_key on users (email) where removed_at is null;
-- Invitations that nobody has accepted yet, the oldest first: they lapse in this order.
create index users_invited on users (created_at) where (removed_at is null) and (password_hash is null);
-- "Is there another admin?" reads one or two entries.
create index users_org_admins on users (org_id) where (removed_at is null) and (role = 'admin') and (password_hash is not null);
create index users_org_members on users (org_id, id) where removed_at is null;
create index users_org_names on users (org_id, lower(full_name), id) where removed_at is null;
-- Was the owner of this address a member before? Then no provider makes them one again.
create index users_removed_email on users (email) where removed_at is not null;
create index users_invitation_mail on users (invitation_mail_id) where invitation_mail_id is not null;

-- Accounts that are not people: applications and scripts act as them.
create table service_accounts (
  id uuid primary key,
  org_id uuid not null references organisations,
  name text not null,
  role role not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  removed_at timestamptz(3),
  -- The administrator who has set it up; null where the platform's command line did.
  created_by uuid references users
);
create index service_accounts_of_org on service_accounts (org_id, id) where removed_at is null;
create index service_accounts_set_up on service_accounts (created_by) where removed_at is null and created_by is not null;

-- Groups of members and service accounts. `name_key` is the name in one spelling, computed by the service: PostgreSQL's
-- lower() depends on the collation of the database.
create table groups (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  name text not null,
  name_key text not null,
  source text not null check (source in ('manual', 'provider')),
  external_id text,
  created_at timestamptz(3) not null
);
create unique index groups_of_org_by_name on groups (org_id, source, name_key);
create index groups_of_org on groups (org_id, id);

-- `member_id` is the id of a member or of a service account. Their rows are never deleted: who was removed stays in the
-- table, and is left out where it is read.
create table group_members (
  group_id uuid not null references groups (id) on delete cascade,
  member_id uuid not null,
  added_at timestamptz(3) not null,
  primary key (group_id, member_id)
);
create index groups_of_member on group_members (member_id, group_id);

-- The totals of paged lists, because count(*) would read tables that grow. Kept by triggers below, one row per
-- organisation, so that every writer takes its lock in the same order.
create table organisation_counters (
  org_id uuid primary key references organisations,
  active_tokens bigint default 0 not null,
  members bigint default 0 not null,
  audit_entries bigint default 0 not null
) with (fillfactor=50);

-- Counters are kept by statement-level triggers over transition tables: a bulk change costs one update per organisation.
create function count_members_inserted() returns trigger language plpgsql as $$
begin
  insert into organisation_counters as counters (org_id, members)
    select org_id, count(*) from new_rows where removed_at is null group by org_id order by org_id
  on conflict (org_id) do update set members = counters.members + excluded.members;
  return null;
end $$;

create trigger count_members_inserted after insert on users referencing new table as new_rows for each statement execute function count_members_inserted();

create function count_members_updated() returns trigger language plpgsql as $$
begin
  insert into organisation_counters as counters (org_id, members)
    select org_id, sum(change) from (
      select org_id, 1 as change from new_rows where removed_at is null
      union all
      select org_id, -1 from old_rows where removed_at is null
    ) changes group by org_id having sum(change) <> 0 order by org_id
  on conflict (org_id) do update set members = counters.members + excluded.members;
  return null;
end $$;

create trigger count_members_updated after update on users referencing old table as old_rows new table as new_rows for each statement execute function count_members_updated();

-- Audit -------------------------------------------------------------------------------------------

-- Creates a UUIDv7 of the time (RFC 9562): ids of entries are in the order of time. The version of a random one is raised
-- from 4 to 7 by its bits 52 and 53.
create function uuid_v7(at timestamptz) returns uuid language sql volatile as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from at) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$;

-- The audit of an organisation: who did what, with which credential, and from where. Append-only.
create table audit_entries (
  id uuid primary key,
  org_id uuid not null references organisations,
  action text not null,
  actor_id uuid,
  subject_id uuid,
  reason text,
  detail jsonb default '{}' not null,
  created_at timestamptz(3) not null,
  credential_kind text,
  credential_id uuid,
  address text,
  user_agent text,
  -- The `x-request-id` of the request; null where there was none.
  request_id text,
  changes jsonb default '{}' not null
);
create index audit_of_action on audit_entries (org_id, action, id);
-- Ids are UUIDv7s of the time of the entry, so each of these is in the order of time, too.
create index audit_of_actor on audit_entries (org_id, actor_id, id);
create index audit_of_org on audit_entries (org_id, id);
create index audit_of_subject on audit_entries (org_id, subject_id, id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;

create trigger audit_is_append_only before update or truncate on audit_entries for each statement execute function refuse_change();

create function refuse_deleting_young_entries() returns trigger language plpgsql as $$
begin
  if exists (select from old_rows where created_at > now() - interval '30 days') then
    raise exception 'audit_entries is append-only: entries of the last 30 days are kept';
  end if;
  return null;
end $$;

create trigger young_entries_are_kept after delete on audit_entries referencing old table as old_rows for each statement execute function refuse_deleting_young_entries();

create function count_audit_entries() returns trigger language plpgsql as $$
begin
  insert into organisation_counters as counters (org_id, audit_entries)
    select org_id, count(*) from new_rows group by org_id order by org_id
  on conflict (org_id) do update set audit_entries = counters.audit_entries + excluded.audit_entries;
  return null;
end $$;

create trigger count_audit_entries after insert on audit_entries referencing new table as new_rows for each statement execute function count_audit_entries();

create function uncount_audit_entries() returns trigger language plpgsql as $$
begin
  insert into organisation_counters as counters (org_id, audit_entries)
    select org_id, -count(*) from old_rows group by org_id order by org_id
  on conflict (org_id) do update set audit_entries = counters.audit_entries + excluded.audit_entries;
  return null;
end $$;

create trigger uncount_audit_entries after delete on audit_entries referencing old table as old_rows for each statement execute function uncount_audit_entries();

-- Facts and their destinations --------------------------------------------------------------------

-- The outbox of packages/events, word for word: a test compares them.
create schema outbox;

create table outbox.events (
  event_id     uuid        not null primary key,
  -- Once per cause, such as a run: a second insert for the same one changes nothing.
  cause        text        not null unique,
  org_id       text        not null,
  event_key    text        not null,
  -- Not jsonb: what is published is byte for byte what was stored.
  event        json        not null,
  created_at   timestamptz not null default clock_timestamp(),
  seq          bigint      not null generated always as identity,
  position     bigint,
  published_at timestamptz,
  -- The trace that the event belongs to, if there is one.
  traceparent  text
);

create index outbox_pending on outbox.events (position, seq) where published_at is null;
create index outbox_by_organisation on outbox.events (org_id, position);
create index outbox_by_age on outbox.events (created_at);

-- Rows come and go in order; the default of a fifth of the table is far too late for a queue.
alter table outbox.events set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create table outbox.head (
  is_only  boolean not null primary key default true check (is_only),
  position bigint  not null,
  -- The highest position of an event that has been deleted.
  deleted  bigint  not null default 0,
  -- How often events were deleted.
  deletions bigint not null default 0,
  -- Another one after the database was restored: the same positions may then have other events.
  epoch    uuid    not null default gen_random_uuid()
);
insert into outbox.head (position) values (0);

-- Gives visible rows their positions, at most rows_max of them; returns how many. Volatile on purpose: each
-- statement then has a snapshot of its own, so the rows are looked for after the lock was waited for.
create function outbox.assign_positions(rows_max integer) returns integer language plpgsql volatile as $$
declare
  last_position bigint;
  assigned      integer;
begin
  if not exists (select from outbox.events where published_at is null and position is null) then
    return 0;
  end if;
  select position into last_position from outbox.head for update;
  with fresh as (
    select event_id, row_number() over (order by seq) as number
      from (
        select event_id, seq from outbox.events
         where published_at is null and position is null
         order by seq limit rows_max
      ) as oldest
  )
  update outbox.events as o set position = last_position + fresh.number
    from fresh where o.event_id = fresh.event_id;
  get diagnostics assigned = row_count;
  update outbox.head set position = last_position + assigned;
  return assigned;
end $$;

-- Where an organisation's facts are sent. `position` is a position in the outbox: facts before it were sent, or are
-- deliveries that wait for another attempt.
create table fact_destinations (
  id uuid primary key,
  org_id uuid not null references organisations,
  form text not null,
  url text not null,
  description text not null,
  -- Empty for all types.
  types text[] not null,
  -- What signs the requests of a webhook, with the replaced secrets that still sign, each with the time until which it does;
  -- for logs, the value of the header.
  secret_sealed text,
  previous_secret_until timestamptz(3),
  secret_header text,
  is_enabled boolean default true not null,
  disabled_reason text,
  position bigint not null,
  -- While a replica sends, no other one does.
  claimed_until timestamptz(3),
  served_at timestamptz(3) not null,
  -- Whether it has accepted something, and goes on to.
  is_accepting boolean default false not null,
  -- How often nothing was accepted since something last was, when that began, and until when nothing is sent.
  failures integer default 0 not null,
  failing_since timestamptz(3),
  resume_at timestamptz(3),
  created_at timestamptz(3) not null,
  -- A subscription to events (SEP-3415) has an owner, arguments and an end. Its key is a function of the credential, the URL,
  -- the event and the arguments, so that the same request refreshes it.
  subscription_key text unique,
  -- The member or service account, and the token or connection that it was made with.
  owner_id uuid,
  credential_kind text,
  credential_id uuid,
  event text,
  arguments jsonb,
  -- What the data of facts must contain; null for anything.
  filter jsonb,
  ends_at timestamptz(3),
  -- Whether it may have something to send. That of a subscription is false while all facts up to its position are none of its.
  is_due boolean default true not null,
  constraint fact_destinations_form_check check (form in ('webhook', 'logs', 'subscription')),
  constraint fact_destinations_secret_check check (form = 'logs' or (secret_sealed is not null and secret_header is null)),
  constraint fact_destinations_header_check check (form <> 'logs' or (secret_sealed is null) = (secret_header is null)),
  constraint fact_destinations_subscription_check check (
    num_nonnulls(subscription_key, owner_id, credential_kind, credential_id, event, arguments, ends_at)
      = case form when 'subscription' then 7 else 0 end and (form = 'subscription' or (filter is null and is_due))),
  constraint fact_destinations_credential_check check (credential_kind in ('pat', 'oauth'))
);
create index fact_destinations_of_org on fact_destinations (org_id, id);
create index fact_destinations_enabled on fact_destinations (served_at) where is_enabled and is_due;
create index fact_destinations_idle on fact_destinations (org_id, position) where not is_due;
create index fact_destinations_ended on fact_destinations (ends_at) where form = 'subscription';

-- What was sent or waits to be sent again: a fact to a webhook, or a range of them as logs. The facts are in the outbox.
create table fact_deliveries (
  id uuid primary key,
  -- Those of a removed destination are deleted by their age.
  destination_id uuid not null,
  org_id uuid not null,
  -- The fact; null for a range.
  fact_id uuid,
  type text,
  facts integer not null,
  first_position bigint not null,
  last_position bigint not null,
  state text not null,
  -- Since it was last asked for.
  attempt_count smallint not null,
  -- The last ones: {at, status, fault, durationMs}.
  attempts jsonb not null,
  next_attempt_at timestamptz(3),
  created_at timestamptz(3) not null,
  constraint fact_deliveries_state_check check (state in ('waiting', 'delivered', 'failed')),
  constraint fact_deliveries_waiting_check check ((state = 'waiting') = (next_attempt_at is not null))
);
create index fact_deliveries_of_destination on fact_deliveries (destination_id, id);
create index fact_deliveries_waiting on fact_deliveries (destination_id, next_attempt_at) where state = 'waiting';
create index fact_deliveries_undelivered on fact_deliveries (destination_id, state, id) where state <> 'delivered';
create index fact_deliveries_by_age on fact_deliveries (created_at);

-- Keys and credentials of services ----------------------------------------------------------------

-- The keys that sign tokens. A removed key verifies nothing, so removing one revokes its tokens.
create table signing_keys (
  id text primary key,
  public_key text not null,
  private_sealed text not null,
  created_at timestamptz(3) not null,
  active_from timestamptz(3) not null,
  removed_at timestamptz(3)
);

-- What the services of the platform were given, so that a leaked signing key forges none of it. A row
-- lives as long as its credential: minutes.
create table service_credentials (
  id uuid primary key,
  client_id text not null,
  token_hash text not null,
  expires_at timestamptz(3) not null
);
create index service_credentials_expiry on service_credentials (expires_at);

-- Mails -------------------------------------------------------------------------------------------

-- One per organisation. The password is sealed by the service; nothing else here is a secret.
create table smtp_configurations (
  org_id uuid primary key references organisations,
  host text not null,
  port integer not null,
  from_email text not null,
  username text,
  -- How the service gets access tokens, without secrets. Null: it signs in with the password, or not at all.
  auth jsonb,
  -- The password, or the secrets of `auth` as JSON, encrypted.
  secret_sealed text,
  tls text not null,
  updated_at timestamptz(3) not null,
  constraint secret_has_username check ((secret_sealed is null) or (username is not null)),
  constraint auth_has_secret check ((auth is null) or (secret_sealed is not null)),
  constraint smtp_configurations_port_check check ((port >= 1) and (port <= 65535)),
  constraint smtp_configurations_tls_check check (tls in ('auto', 'starttls', 'implicit', 'none'))
);

-- What is mailed to somebody and works once: one row per purpose and address, the newest replaces
-- the one before. A code asked for an address without an account has a row too (user_id is null):
-- a guess at it does the same work as a guess at a real one.
create table one_time_secrets (
  purpose text not null,
  -- SHA-256 of the e-mail address.
  subject text not null,
  user_id uuid references users,
  secret_hash text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  tries_left integer not null,
  used_at timestamptz(3),
  -- What was mailed can be mailed again while it is fresh: asking again does not void it. Sealed with ENCRYPTION_KEYS.
  secret_sealed text,
  -- Wrong guesses at codes are counted per address and day: tries_left counts down from when tries_since says, however many
  -- codes there are meanwhile. Null for links.
  tries_since timestamptz(3),
  primary key (purpose, subject),
  constraint one_time_secrets_purpose_check check (purpose in ('login_code', 'password_reset', 'invitation')),
  constraint one_time_secrets_tries_left_check check (tries_left >= 0)
);
create index one_time_secrets_expiry on one_time_secrets (expires_at);
-- A link is found by its hash alone.
create unique index one_time_secrets_of_links on one_time_secrets (secret_hash) where purpose <> 'login_code';
create index one_time_secrets_of_user on one_time_secrets (user_id);

-- Mails on their way to the mail service, written in the transaction that causes them. A row is deleted once the mail
-- service has stored the mail, or the mail has become useless. The sealed message holds the code or link.
create table outgoing_mails (
  id uuid primary key,
  kind text not null,
  user_id uuid references users,
  -- As somebody typed it: whether there is an account is looked up when the mail is prepared.
  email text,
  detail jsonb default '{}' not null,
  sealed_message text,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  attempts integer default 0 not null,
  next_attempt_at timestamptz(3) not null,
  -- The x-request-id of the request that caused the mail: it goes with the mail to the mail service, and into the logs.
  request_id text,
  -- Alerts about a possible theft are claimed before all other mails.
  reports_theft boolean default false not null,
  -- Waiting mails to one person with the same key are sent as one; null: by itself.
  merge_key text,
  constraint outgoing_mails_kind_check check (kind in ('login_code', 'password_reset', 'invitation', 'account_created', 'suspicious_login', 'smtp_changed', 'password_changed', 'token_alert', 'token_expiring', 'crawl_notice', 'service_notice')),
  constraint one_addressee check (num_nonnulls(user_id, email) = 1)
);
-- The most urgent mails are claimed first.
create index outgoing_mails_due on outgoing_mails
  ((case when reports_theft then 0 when kind in ('login_code', 'password_reset') then 1 when kind <> 'token_alert' then 2 else 3 end), next_attempt_at);
create index outgoing_mails_expiry on outgoing_mails (expires_at);
-- A mail that was composed is no longer merged.
create index outgoing_mails_to_merge on outgoing_mails (user_id, merge_key) where (merge_key is not null) and (sealed_message is null);

-- Sign-in -----------------------------------------------------------------------------------------

-- Sessions of signed-in members, each stored as a hash.
create table sessions (
  id uuid primary key,
  org_id uuid not null references organisations,
  user_id uuid not null references users,
  token_hash text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3),
  address text,
  user_agent text,
  -- How the member authenticated, so that the sessions of a provider end with it.
  first_factor text,
  -- When the member last entered the password in a session or signed in at the provider for it; null: when it was opened.
  authenticated_at timestamptz(3),
  -- Whether a browser was given the session.
  is_browser boolean default false not null,
  -- The generations of the organisation when the session was opened by its identity provider, and without a second factor;
  -- null: it was not opened that way.
  provider_generation integer,
  single_factor_generation integer
);
create index sessions_expiry on sessions (expires_at);
-- A password reset ends all sessions of an account.
create index sessions_of_user on sessions (user_id) where ended_at is null;
-- The sessions of a member, newest first. A session that has ended leaves the index.
create index sessions_open on sessions (user_id, id desc) where ended_at is null;

-- Networks and programs that an account has signed in from; `client` is a SHA-256 of both.
create table known_clients (
  user_id uuid not null references users,
  client text not null,
  seen_at timestamptz(3) not null,
  primary key (user_id, client)
);

-- Sign-ins whose first factor was right and whose second is awaited. A changed password ends them, because they belong
-- to the password that `password_digest` is the SHA-256 of.
create table pending_sign_ins (
  token_hash text primary key,
  org_id uuid not null references organisations,
  user_id uuid not null references users,
  method text not null,
  password_digest text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create index pending_sign_ins_expiry on pending_sign_ins (expires_at);

-- The authenticator app of a member. A code is accepted once: only one of a later time step than the last.
create table totp_factors (
  user_id uuid primary key references users,
  org_id uuid not null references organisations,
  secret_sealed text not null,
  last_step bigint not null,
  -- Wrong codes since the first of the current day; they are refused at a limit, from whichever network they come.
  wrong_codes integer default 0 not null,
  wrong_since timestamptz(3),
  created_at timestamptz(3) not null
);

-- Recovery codes that have not been used. Each is random, so that a plain SHA-256 cannot be reversed.
create table recovery_codes (
  user_id uuid not null references users,
  code_hash text not null,
  created_at timestamptz(3) not null,
  primary key (user_id, code_hash)
);

-- Passkeys of members, as a second factor (WebAuthn). The private key never leaves the member's device.
create table passkeys (
  id uuid primary key,
  org_id uuid not null references organisations,
  user_id uuid not null references users,
  -- In base64url. Authenticators choose it at random, so that no two accounts share one.
  credential_id text not null unique,
  -- A COSE key.
  public_key bytea not null,
  -- The signature counter of the last use; 0 for authenticators that have none.
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3)
);
create index passkeys_user on passkeys (user_id);

-- Challenges that a passkey has yet to sign: one per purpose and session, or sign-in under way. Each is used once.
create table passkey_challenges (
  holder text primary key,
  user_id uuid not null references users,
  challenge text not null,
  expires_at timestamptz(3) not null
);
create index passkey_challenges_expiry on passkey_challenges (expires_at);
create index passkey_challenges_user on passkey_challenges (user_id);

-- The OpenID provider with which the members of an organisation sign in. `revision` is another one after every change, so
-- that a sign-in that began with other settings is not completed.
create table identity_providers (
  org_id uuid primary key references organisations,
  issuer text not null,
  client_id text not null,
  client_secret_sealed text,
  scopes text[] not null,
  -- Values of `amr` or `acr` that count as a second factor; empty for none.
  second_factor_values text[] not null,
  is_just_in_time boolean not null,
  is_required boolean not null,
  revision uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- The claim that has a person's groups; null when they are not read.
  groups_claim text default 'groups'
);

-- The domains of the e-mail addresses that an organisation's provider may speak for. Anybody may name a domain; one that
-- is verified belongs to one organisation.
create table identity_domains (
  org_id uuid not null references organisations,
  domain text not null,
  -- What the DNS record has to contain. It is no secret.
  challenge text not null,
  created_at timestamptz(3) not null,
  verified_at timestamptz(3),
  verified_by text,
  primary key (org_id, domain),
  constraint identity_domains_verified check ((verified_at is null) = (verified_by is null)),
  constraint identity_domains_verified_by_check check (verified_by in ('dns', 'command'))
);
create unique index identity_domains_verified_key on identity_domains (domain) where verified_at is not null;

-- Which account a subject of the provider signs in to. The row of a removed member stays, so that the same person does
-- not become a member again without an administrator.
create table provider_links (
  user_id uuid primary key references users,
  org_id uuid not null references organisations,
  issuer text not null,
  subject text not null,
  created_at timestamptz(3) not null,
  constraint provider_links_subject_key unique (org_id, issuer, subject)
);

-- Sign-ins that a browser has begun at a provider. State and browser are known by their SHA-256 only; what is derived
-- from them (nonce, PKCE verifier) is not stored.
create table provider_sign_ins (
  state_hash text primary key,
  org_id uuid not null references organisations,
  revision uuid not null,
  browser_hash text not null,
  return_to text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  -- The session that a sign-in at the provider is to confirm; null for one that opens a session.
  session_id uuid
);
create index provider_sign_ins_expiry on provider_sign_ins (expires_at);

-- Counts of attempts, mails and alerts; a window begins with its first count.
create table rate_limits (
  key varchar(255) primary key,
  points integer default 0 not null,
  expire bigint
);
-- The cleaner of the rate limits deletes by this.
create index rate_limits_expire on rate_limits (expire);

-- Personal access tokens --------------------------------------------------------------------------

create type token_status as enum ('active', 'revoked', 'expired');

-- Tokens of members and service accounts, each stored as a hash. A rotated token names its successor.
create table personal_access_tokens (
  id uuid primary key,
  org_id uuid not null references organisations,
  owner_id uuid references users,
  name text not null,
  scopes text[] not null,
  token_hash text not null,
  signing_key_id text not null references signing_keys,
  status token_status default 'active' not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  revoked_by uuid references users,
  revoked_reason text,
  -- The token that made a token, or the nearest one above it that lives: revoking that one revokes this one too. Null for
  -- a token that was made with a session.
  -- No foreign keys: ended tokens are deleted after the retention, whatever other ended tokens still name them.
  parent_id uuid,
  successor_id uuid,
  -- The first of the tokens that rotated themselves one after the other into this one: whoever stole one of them may hold
  -- all that came later. Null when something else made it, such as its owner's session.
  lineage_id uuid,
  description text,
  -- The ranges that a token may be used from; empty for any address.
  allow_list inet[] default '{}'::inet[] not null,
  -- When the owner was last told that the token was used after its rotation.
  reuse_reported_at timestamptz(3),
  service_account_id uuid references service_accounts,
  -- What it is limited to beside its scopes, as lists of servers, tools and connectors; null for nothing. Every verification
  -- reads it, and json is printed as it is stored.
  bounds json,
  -- How many of the notices about its expiry are done: 14, 7 and 1 days before, and afterwards.
  expiry_notices smallint default 0 not null,
  -- Whether its owner has muted them.
  mutes_notices boolean default false not null,
  -- Up to here the use of a token is known: its next look is due when it could be unused since then. Null: never looked at.
  use_checked_until timestamptz(3),
  constraint token_has_one_owner check (((owner_id is null) <> (service_account_id is null))),
  constraint revocation_is_whole check ((status = 'revoked') = (revoked_at is not null))
);
-- The tokens whose retention ends next.
create index ended_tokens on personal_access_tokens (coalesce(revoked_at, expires_at)) where status <> 'active';
-- The history of an organisation's tokens, newest first. Active ones are in `tokens_of_org`.
create index ended_tokens_of_org on personal_access_tokens (org_id, id) where status <> 'active';
-- The history of an owner's tokens, newest first. Active ones are in `tokens_of_owner`.
create index ended_tokens_of_owner on personal_access_tokens (owner_id, id) where status <> 'active';
-- The history of a service account's tokens, newest first. Active ones are in `tokens_of_service_account`.
create index ended_tokens_of_service_account on personal_access_tokens (service_account_id, id) where (status <> 'active') and (service_account_id is not null);
-- A leak report follows the tokens that rotated themselves.
create index tokens_of_lineage on personal_access_tokens (lineage_id) where lineage_id is not null;
-- The retention of a token that rotated itself waits until no token of its lineage is active.
create index living_lineages on personal_access_tokens (lineage_id) where status = 'active' and lineage_id is not null;
create index tokens_by_key on personal_access_tokens (signing_key_id) where status = 'active';
create index tokens_of_org on personal_access_tokens (org_id, id) include (expires_at) where status = 'active';
-- Ids are UUIDv7, so the order of ids is the order of creation. `expires_at` rides along: a page
-- is found in the index alone, expired tokens that the sweeper hasn't met yet left out.
create index tokens_of_owner on personal_access_tokens (owner_id, id) include (expires_at) where status = 'active';
-- A family is walked from a token down through those that live.
create index tokens_of_parent on personal_access_tokens (parent_id) where (status = 'active') and (parent_id is not null);
-- The active tokens of a service account, newest first. Members' tokens aren't in it.
create index tokens_of_service_account on personal_access_tokens (service_account_id, id) include (expires_at) where (status = 'active') and (service_account_id is not null);
-- A revocation includes the predecessors of a token that still work.
create index tokens_of_successor on personal_access_tokens (successor_id) where (status = 'active') and (successor_id is not null);
-- The tokens of an organisation by the time until which their use is known. A rotated token ends by itself.
create index tokens_to_check on personal_access_tokens (org_id, use_checked_until) where (status = 'active') and (successor_id is null);
create index tokens_to_expire on personal_access_tokens (expires_at, org_id) where (status = 'active') and (expires_at is not null);
-- The day on which the next notice about a token's expiry is due, and who is told: the member, or the administrators of the
-- organisation whose service account has the token. A rotated token needs no notice.
create index tokens_to_tell on personal_access_tokens (((((expires_at AT TIME ZONE 'UTC'))::date -
case expiry_notices
    when 0 then 14
    when 1 then 7
    when 2 then 1
    else 0
end)), coalesce(owner_id, org_id), expires_at) where ((expires_at is not null) and (expiry_notices < 4) and (status <> 'revoked') and (successor_id is null));
-- Administrators list the tokens of the organisation, and members their own, by name or by next expiry.
create index tokens_of_org_by_expiry on personal_access_tokens (org_id, (coalesce(expires_at, 'infinity')), id) where status = 'active';
create index tokens_of_org_by_name on personal_access_tokens (org_id, lower(name), id) where status = 'active';
create index tokens_of_owner_by_expiry on personal_access_tokens (owner_id, (coalesce(expires_at, 'infinity')), id) where status = 'active';
create index tokens_of_owner_by_name on personal_access_tokens (owner_id, lower(name), id) where status = 'active';
-- While most tokens have one parent, the planner would estimate many children of each token, and a revocation would read
-- the whole table for each token of a family instead of an index.
alter table personal_access_tokens
  alter column parent_id set (n_distinct = -0.5),
  alter column successor_id set (n_distinct = -1);

-- Revocation is irreversible. A token never changes its owner, its organisation and what it grants; it only ends earlier.
create function keep_token() returns trigger language plpgsql as $$
begin
  if old.status <> 'active' and new.status <> old.status then
    raise exception 'a token never leaves the state %', old.status;
  end if;
  if (new.id, new.org_id, new.owner_id, new.service_account_id, new.token_hash, new.created_at)
     is distinct from (old.id, old.org_id, old.owner_id, old.service_account_id, old.token_hash, old.created_at) then
    raise exception 'a token never changes whose it is';
  end if;
  if new.scopes <> old.scopes or new.allow_list <> old.allow_list or new.bounds::text is distinct from old.bounds::text
     or (new.expires_at is distinct from old.expires_at
         and (new.expires_at is null or new.expires_at > old.expires_at)) then
    raise exception 'a token never changes what it grants, and never ends later';
  end if;
  return new;
end $$;

create trigger token_is_kept before update on personal_access_tokens for each row execute function keep_token();

create function count_tokens_inserted() returns trigger language plpgsql as $$
begin
  insert into organisation_counters as counters (org_id, active_tokens)
    select org_id, count(*) from new_rows where status = 'active' group by org_id order by org_id
  on conflict (org_id) do update set active_tokens = counters.active_tokens + excluded.active_tokens;
  return null;
end $$;

create trigger count_tokens_inserted after insert on personal_access_tokens referencing new table as new_rows for each statement execute function count_tokens_inserted();

create function count_tokens_updated() returns trigger language plpgsql as $$
begin
  insert into organisation_counters as counters (org_id, active_tokens)
    select org_id, sum(change) from (
      select org_id, 1 as change from new_rows where status = 'active'
      union all
      select org_id, -1 from old_rows where status = 'active'
    ) changes group by org_id having sum(change) <> 0 order by org_id
  on conflict (org_id) do update set active_tokens = counters.active_tokens + excluded.active_tokens;
  return null;
end $$;

create trigger count_tokens_updated after update on personal_access_tokens referencing old table as old_rows new table as new_rows for each statement execute function count_tokens_updated();

-- Apart from the tokens, so that use doesn't touch their pages: their lists stay index-only scans.
create table token_last_used (
  token_id uuid primary key references personal_access_tokens on delete cascade,
  last_used_at timestamptz(3) not null,
  -- Where a token was used from last, and with which program.
  address text,
  user_agent text
) with (fillfactor=70);

-- What an organisation demands of its members' tokens. Without a row, nothing.
create table token_policies (
  org_id uuid primary key references organisations,
  allow_list inet[] default '{}'::inet[] not null,
  revoke_family_on_reuse boolean default false not null,
  updated_at timestamptz(3) not null,
  max_lifetime_days integer,
  allows_never boolean default true not null,
  denied_scopes text[] default '{}'::text[] not null,
  -- After so many days without a use, a token is revoked; null: never.
  revoke_unused_days integer,
  -- Days without a use count from here at the earliest; null: from the last use of each token.
  unused_from timestamptz(3),
  constraint token_policies_max_lifetime_days_check check ((max_lifetime_days >= 1) and (max_lifetime_days <= 3650))
);
-- The organisations that revoke unused tokens.
create index token_policies_for_unused_tokens on token_policies (org_id) where revoke_unused_days is not null;

-- The day of the last digest about the tokens of a member, or of an organisation's service accounts: there is one a day.
create table token_digests (
  holder_id uuid primary key,
  day date not null
);

-- Tokens that have been unused for so long that their owner is warned, and then a week later the token is revoked.
create table unused_tokens (
  token_id uuid primary key references personal_access_tokens on delete cascade,
  -- Who is warned: a member, or the administrators of an organisation whose service account owns the token.
  holder_id uuid not null,
  is_organisation boolean not null,
  -- When the warning was stored, once; null: it is due.
  warned_at timestamptz(3)
);
create index unused_tokens_to_warn on unused_tokens (is_organisation, holder_id) where warned_at is null;
create index unused_tokens_warned on unused_tokens (warned_at) where warned_at is not null;

-- Rotated tokens that were used after their end. A row is stored with the audit entry, and deleted with the reaction.
create table token_reuses (
  token_id uuid primary key references personal_access_tokens on delete cascade,
  -- The first of the uses that are not reacted to. Null: unknown.
  address text,
  user_agent text,
  used_at timestamptz(3) not null
);

-- Tokens that were reported as leaked, until they are revoked.
create table leak_reports (
  id uuid primary key,
  token_id uuid not null,
  digest text not null,
  url text,
  created_at timestamptz(3) not null
);

-- OAuth -------------------------------------------------------------------------------------------

-- Which applications the members of an organisation may connect. Without a row, all that the operator allows.
create table connection_policies (
  org_id uuid primary key references organisations,
  client_kinds text[] not null,
  -- The hosts, of those that the operator allows, whose documents describe clients; empty for all.
  hosts text[] not null,
  -- Further hosts whose documents describe clients.
  additional_hosts text[] not null,
  connectable_by text not null,
  max_lifetime_days integer,
  updated_at timestamptz(3) not null,
  constraint connection_policies_connectable_by_check check (connectable_by in ('members', 'administrators')),
  constraint connection_policies_max_lifetime_days_check check (max_lifetime_days > 0)
);
-- Does any organisation allow documents at this host?
create index connection_policies_hosts on connection_policies using gin (additional_hosts);

-- OAuth clients: the applications that administrators register ('application'), clients that are described by the
-- document at their id ('document', client id metadata documents), and those that registered themselves
-- ('registered', RFC 7591). Only an application belongs to an organisation.
create table oauth_clients (
  id text primary key,
  kind text not null,
  org_id uuid references organisations,
  name text not null,
  redirect_uris text[] not null,
  grant_types text[] not null,
  scopes text[] not null,
  auth_method text not null,
  jwks jsonb,
  -- The last good document of a client that is described by one; `jwks` has the keys that it refers to.
  document jsonb,
  service_account_id uuid references service_accounts,
  -- What the tokens that it obtains as its service account are limited to.
  bounds json,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  disabled_at timestamptz(3),
  removed_at timestamptz(3),
  constraint oauth_clients_auth_method_check check (auth_method in ('none', 'client_secret_basic', 'private_key_jwt')),
  constraint oauth_clients_check check ((kind = 'application') = (org_id is not null)),
  constraint oauth_clients_kind_check check (kind in ('application', 'document', 'registered'))
);
-- The clients that describe themselves by their last use: those that nobody connects any more are deleted.
create index oauth_clients_idle on oauth_clients (coalesce(last_used_at, created_at)) where (kind <> 'application') and (disabled_at is null);
create index oauth_clients_of_org on oauth_clients (org_id, created_at) where removed_at is null;
-- The application of a service account.
create index oauth_clients_of_service_account on oauth_clients (service_account_id) where service_account_id is not null;
create index oauth_clients_unused on oauth_clients (created_at) where (kind = 'registered') and (last_used_at is null);

-- An application has up to two secrets at once, so that it can change from one to the next.
create table oauth_client_secrets (
  id uuid primary key,
  client_id text not null references oauth_clients,
  secret_hash text not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);
-- Deleting a client looks for all of its secrets.
create index oauth_secrets_by_client on oauth_client_secrets (client_id);

-- What a member has allowed a client: a connected app.
create table oauth_grants (
  id uuid primary key,
  org_id uuid not null references organisations,
  user_id uuid not null references users,
  client_id text not null references oauth_clients,
  resource text not null,
  scopes text[] not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  last_address text,
  revoked_at timestamptz(3),
  revoked_by uuid references users,
  revoked_reason text,
  -- What the person has limited it to beside the scopes; null for nothing.
  bounds json,
  -- The rotations of the newest refresh token whose predecessor was used.
  refresh_generation integer default 0 not null,
  -- Whether it was reported that it expires soon.
  is_expiry_reported boolean default false not null
);
-- Deleting a client looks for all of its grants, ended ones included.
create index oauth_grants_by_client on oauth_grants (client_id);
create index oauth_grants_expiry on oauth_grants (expires_at);
create index oauth_grants_of_client on oauth_grants (client_id, id) where revoked_at is null;
create index oauth_grants_of_org on oauth_grants (org_id, id) where revoked_at is null;
create index oauth_grants_of_user on oauth_grants (user_id, id) where revoked_at is null;

-- One row for each access token, written before the token is answered: it lives for minutes. Exactly one of the grant
-- of a member and the service account owns it. One with a parent was exchanged for it and ends with it.
create table oauth_access_tokens (
  id uuid primary key,
  client_id text not null references oauth_clients,
  grant_id uuid references oauth_grants,
  service_account_id uuid references service_accounts,
  parent_id uuid,
  scopes text[] not null,
  audiences text[] not null,
  token_hash text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  constraint oauth_access_tokens_check check ((grant_id is null) <> (service_account_id is null))
);
-- Deleting a client looks for all of its access tokens.
create index oauth_access_tokens_by_client on oauth_access_tokens (client_id);
create index oauth_access_tokens_expiry on oauth_access_tokens (expires_at);
-- Deleting ended grants looks for access tokens that name them.
create index oauth_access_tokens_of_grant on oauth_access_tokens (grant_id) where grant_id is not null;
create index oauth_access_tokens_of_parent on oauth_access_tokens (parent_id) where parent_id is not null;

-- The state of the authorization server: interactions, authorization codes, refresh tokens, used assertions. The key is
-- the SHA-256 of the secret value.
create table oauth_artifacts (
  model text not null,
  id_hash text not null,
  grant_id uuid references oauth_grants,
  -- Null for a refresh token whose successor has been used.
  payload jsonb,
  expires_at timestamptz(3) not null,
  consumed_at timestamptz(3),
  -- The refresh token that replaced this one, encrypted with a key that only this token yields.
  successor_sealed text,
  -- The refresh token that this one replaced.
  predecessor_hash text,
  primary key (model, id_hash)
);
create index oauth_artifacts_expiry on oauth_artifacts (expires_at);
create index oauth_artifacts_of_grant on oauth_artifacts (grant_id);

-- MCP ---------------------------------------------------------------------------------------------

-- MCP servers of an organisation, whose tools are offered through /mcp.
create table mcp_servers (
  id uuid primary key,
  org_id uuid not null references organisations,
  name text not null,
  url text not null,
  credential text not null,
  secret_header text,
  secret_sealed text,
  -- Of a personal credential: what stands before each secret in the header, and what members are told of where to get theirs.
  secret_prefix text,
  credential_hint text,
  credential_link text,
  -- The administrator with whose own credential the tools are listed.
  lister_id uuid,
  -- Of a server at which accounts sign in: the client id that an administrator has given, and the scopes to ask for. The client
  -- itself, given or registered, is sealed in `secret_sealed`.
  client_id text,
  client_scope text,
  -- What an assertion says of the caller beside the id, and whether groups go by their names or their external ids.
  claims text[] default '{}' not null,
  group_values text,
  -- The connectors that its answers come from.
  connectors text[] default '{}' not null,
  rules jsonb default '[]' not null,
  is_enabled boolean default true not null,
  -- Grows with each change of how the server is reached: connections belong to one revision.
  revision integer default 1 not null,
  created_at timestamptz(3) not null,
  next_refresh_at timestamptz(3) not null,
  -- The last refresh that succeeded, and why the last one failed, if it did.
  refreshed_at timestamptz(3),
  refresh_fault text,
  protocol_version text,
  -- The tools of its last list that can't be used, with the reasons. JSON as text, because jsonb can't store every string.
  left_out text default '[]' not null,
  -- Refreshes that began and never ended, because their replica died.
  unfinished_refreshes smallint default 0 not null,
  max_answer_bytes integer default 1048576 not null,
  -- Who may use the server, and (below) each of its tools: everybody, or while `is_limited` the accounts in one of the groups.
  -- No group left means nobody.
  is_limited boolean default false not null,
  allowed_groups uuid[] default '{}' not null,
  constraint mcp_server_names unique (org_id, name),
  constraint mcp_servers_credential_check check (credential in ('none', 'secret', 'assertion', 'personal', 'oauth')),
  constraint mcp_servers_claims_check check (claims <@ array['email', 'groups'] and (claims = '{}' or credential = 'assertion')),
  constraint mcp_servers_group_values_check check (group_values in ('name', 'externalId') and (group_values is not null) = ('groups' = any (claims))),
  constraint mcp_servers_name_check check ((name ~ '^[a-z0-9][a-z0-9_-]{0,31}$') and (name !~ '__|_$')),
  constraint secret_has_header check (
    ((credential in ('secret', 'personal')) = (secret_header is not null)) and (credential <> 'secret' or secret_sealed is not null)
      and (credential in ('secret', 'personal', 'oauth') or secret_sealed is null)),
  constraint personal_has_prefix check (((credential = 'personal') = (secret_prefix is not null))
    and (credential = 'personal' or num_nonnulls(credential_hint, credential_link) = 0)
    and (credential in ('personal', 'oauth') or lister_id is null)
    and (credential = 'oauth' or num_nonnulls(client_id, client_scope) = 0))
);
create index mcp_servers_due on mcp_servers (unfinished_refreshes, next_refresh_at)
  where is_enabled and refresh_fault is distinct from 'too_large';
create index mcp_servers_of_org on mcp_servers (org_id, id);

-- The tools of a server: what it offers now (null: no longer offered) and what an administrator has approved. A tool is
-- in effect while both hashes are the same. Definitions are JSON as text, because jsonb can't store every string.
create table mcp_tools (
  server_id uuid not null references mcp_servers on delete cascade,
  org_id uuid not null,
  name text not null collate pg_catalog."C",
  offered text,
  offered_hash text,
  approved text,
  approved_hash text,
  scope text,
  is_limited boolean default false not null,
  allowed_groups uuid[] default '{}' not null,
  primary key (server_id, name),
  constraint mcp_tools_scope_check check (scope in ('kb:read', 'semantic:write', 'none'))
);

-- The own credentials of members and service accounts at servers, each sealed for its server and account. `account_id` is
-- the id of either. Another secret is another id: connections are kept by it.
create table mcp_credentials (
  id uuid primary key,
  server_id uuid not null references mcp_servers on delete cascade,
  org_id uuid not null,
  account_id uuid not null,
  secret_sealed text not null,
  connected_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  -- Since when the server refuses it.
  refused_at timestamptz(3),
  -- Of a sign-in at the server: the scopes that it lacked, and until when one process renews its tokens.
  scope_wanted text,
  renewing_until timestamptz(3),
  constraint mcp_credentials_of_server unique (server_id, account_id)
);
create index mcp_credentials_of_account on mcp_credentials (account_id);

-- Tokens of sign-ins that have ended here, until they are revoked at the authorization server: of `mcp_credentials`, and sealed in
-- the same way. The server and the account may be gone.
create table mcp_revocations (
  id uuid primary key,
  server_id uuid not null,
  account_id uuid not null,
  secret_sealed text not null,
  ended_at timestamptz(3) not null,
  attempts smallint default 0 not null,
  next_attempt_at timestamptz(3) not null
);
create index mcp_revocations_due on mcp_revocations (next_attempt_at);

-- Sign-ins at servers in progress: each belongs to the session that began it, and is used once.
create table mcp_sign_ins (
  state_hash text primary key,
  server_id uuid not null references mcp_servers on delete cascade,
  org_id uuid not null,
  account_id uuid not null,
  session_id uuid not null,
  -- Of the server.
  revision integer not null,
  flow_sealed text not null,
  expires_at timestamptz(3) not null
);
create index mcp_sign_ins_expiry on mcp_sign_ins (expires_at);
create index mcp_sign_ins_of_account on mcp_sign_ins (account_id, server_id);

-- How old is what a connector has crawled, by the facts that crawl reports: results of mounted servers say it.
create table crawl_ages (
  org_id uuid not null references organisations,
  connector text not null,
  instance text not null,
  completed_at timestamptz(3),
  -- The first run that has failed since then.
  failing_since timestamptz(3),
  next_run_at timestamptz(3),
  -- The newest time for which the schedule has had a run: a pause before it is over.
  ran_for timestamptz(3),
  paused_at timestamptz(3),
  removed_at timestamptz(3),
  -- The time of the newest fact, and of the newest one about what somebody did with the schedule.
  reported_at timestamptz(3) not null,
  acted_at timestamptz(3),
  -- When a full crawl has last completed.
  full_at timestamptz(3),
  -- What its worker says of the source: {description, documents?, oldestAt?, newestAt?}; and the time of the fact that says so.
  source jsonb,
  described_at timestamptz(3),
  primary key (org_id, connector, instance)
);

-- One row for each organisation that has ever registered an MCP server. The version grows with each change of the tools in
-- effect; every request of the tool endpoint reads it.
create table mcp_catalogues (
  org_id uuid primary key references organisations,
  version bigint not null
);

-- Calls of remote tools: what a credential was used for. Ids are UUIDv7 of the time of the call, so
-- their order is that of time: pages and the retention need no index on a time. No foreign keys:
-- rows come in batches off the request path, and outlive the sessions that they name.
create table tool_calls (
  id uuid primary key,
  org_id uuid not null,
  user_id uuid not null,
  credential_kind text not null,
  credential_id uuid not null,
  tool text not null,
  outcome text not null,
  duration_ms integer not null,
  request_id text not null,
  client text,
  created_at timestamptz(3) not null,
  -- The client that a tool call was made through.
  client_id text,
  -- How it came: `mcp` for a call of a tool, `rest` for a request that was refused, whose route is then in `tool`.
  via text not null,
  -- Why it was refused; null for one that was not, or for a reason of the tool's own.
  reason text,
  -- The scopes that the credential would have needed beside its own.
  lacks text[] default '{}'::text[] not null,
  address text
);
create index tool_calls_of_credential on tool_calls (credential_id, id);
-- What agents do for an account; what its owner does in the console is not theirs.
create index tool_calls_of_agents on tool_calls (user_id, id) where credential_kind <> 'session';
create index tool_calls_of_connection on tool_calls (user_id, client_id, id) where client_id is not null;
-- The newest calls of a tool: who makes them, and how long they take.
create index tool_calls_of_tool on tool_calls (org_id, tool, id);

-- How many calls each hour had, by tool and, under the empty name, in all; and by the agent that made them, without the
-- console's. They are counted by the statement that stores the calls, so that nobody has to count those.
create table tool_call_hours (
  org_id uuid not null,
  tool text not null,
  hour timestamptz(3) not null,
  calls integer not null,
  failures integer not null,
  primary key (org_id, tool, hour)
);
create index tool_call_hours_by_hour on tool_call_hours (hour);
create table tool_call_agents (
  org_id uuid not null,
  hour timestamptz(3) not null,
  user_id uuid not null,
  -- The client that was connected, or the id of the credential.
  agent text not null,
  calls integer not null,
  failures integer not null,
  primary key (org_id, hour, user_id, agent)
);
create index tool_call_agents_by_hour on tool_call_agents (hour);

-- What was seen of attempts to connect an agent. A step belongs to nobody until a member has signed in: it is kept for two hours
-- then, and found by the network that it came from.
create table connection_steps (
  id uuid primary key,
  at timestamptz(3) not null,
  network text not null,
  step text not null,
  client_id text,
  user_agent text,
  -- The code of what went wrong.
  fault text,
  user_id uuid,
  org_id uuid
);
create index connection_steps_of_network on connection_steps (network, id) where user_id is null;
create index connection_steps_of_nobody on connection_steps (id) where user_id is null;
create index connection_steps_of_member on connection_steps (user_id, id) where user_id is not null;
create index connection_steps_of_org on connection_steps (org_id, id) where org_id is not null;

-- Rows are written once; the retention deletes them.
create trigger tool_calls_are_kept before update or truncate on tool_calls for each statement execute function refuse_change();

--- Idempotency keys ---------------------------------------------------------------------------------

-- Requests that create something, each by its credential and the hash of its key. The response is encrypted, since
-- some have a secret that is shown once; a row without one is under way, or its outcome is unknown. Rows live for an hour.
create table idempotency_keys (
  org_id uuid not null,
  credential_id text not null,
  key_hash text not null,
  request_digest text not null,
  status smallint,
  sealed_body text,
  expires_at timestamptz(3) not null,
  primary key (org_id, credential_id, key_hash)
);
-- Expired ones are deleted by this.
create index idempotency_keys_expires_at on idempotency_keys (expires_at);
