create type role as enum ('admin', 'member');
create type token_status as enum ('active', 'revoked', 'expired');

create table organisations (
  id uuid primary key,
  name text not null,
  created_at timestamptz(3) not null
);

-- What the paged lists count: a count(*) would read what grows. Kept by the triggers below, one
-- row per organisation, so that every writer takes its lock in the same order.
create table organisation_counters (
  org_id uuid primary key references organisations (id),
  active_tokens bigint not null default 0,
  members bigint not null default 0,
  audit_entries bigint not null default 0
) with (fillfactor = 50);

-- A removed member's row stays: their tokens still name them.
create table users (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  email text not null,
  full_name text not null,
  role role not null,
  password_hash text,
  created_at timestamptz(3) not null,
  removed_at timestamptz(3),
  constraint users_email_lower check (email = lower(email))
);
create unique index users_email_key on users (email) where removed_at is null;
create index users_org_members on users (org_id, id) where removed_at is null;
-- "Is there another admin?" reads one or two entries.
create index users_org_admins on users (org_id) where removed_at is null and role = 'admin';

create table sessions (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  user_id uuid not null references users (id),
  token_hash text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3)
);
create index sessions_expiry on sessions (expires_at);

create table signing_keys (
  id text primary key,
  public_key text not null,
  private_sealed text not null,
  created_at timestamptz(3) not null,
  active_from timestamptz(3) not null,
  removed_at timestamptz(3)
);

create table personal_access_tokens (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  owner_id uuid not null references users (id),
  name text not null,
  scopes text[] not null,
  token_hash text not null,
  signing_key_id text not null references signing_keys (id),
  status token_status not null default 'active',
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  revoked_by uuid references users (id),
  revoked_reason text,
  constraint revocation_is_whole check ((status = 'revoked') = (revoked_at is not null))
);
-- Ids are UUIDv7, so the order of ids is the order of creation. `expires_at` rides along: a page
-- is found in the index alone, expired tokens that the sweeper hasn't met yet left out.
create index tokens_of_owner on personal_access_tokens (owner_id, id) include (expires_at) where status = 'active';
create index tokens_of_org on personal_access_tokens (org_id, id) include (expires_at) where status = 'active';
create index tokens_to_expire on personal_access_tokens (expires_at, org_id)
  where status = 'active' and expires_at is not null;
create index tokens_by_key on personal_access_tokens (signing_key_id) where status = 'active';

-- Apart from the tokens, so that use doesn't touch their pages: their lists stay index-only scans.
create table token_last_used (
  token_id uuid primary key references personal_access_tokens (id),
  last_used_at timestamptz(3) not null
) with (fillfactor = 70);

create table audit_entries (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  action text not null,
  actor_id uuid,
  subject_id uuid,
  reason text,
  detail jsonb not null default '{}',
  created_at timestamptz(3) not null
);
create index audit_of_org on audit_entries (org_id, id);

-- The table of rate-limiter-flexible.
create table rate_limits (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);

-- Counters ------------------------------------------------------------------------------------
-- Statement-level, over transition tables: a bulk change costs one update per organisation.

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

create function count_tokens_inserted() returns trigger language plpgsql as $$
begin
  insert into organisation_counters as counters (org_id, active_tokens)
    select org_id, count(*) from new_rows where status = 'active' group by org_id order by org_id
  on conflict (org_id) do update set active_tokens = counters.active_tokens + excluded.active_tokens;
  return null;
end $$;
create trigger count_tokens_inserted after insert on personal_access_tokens
  referencing new table as new_rows for each statement execute function count_tokens_inserted();
create trigger count_tokens_updated after update on personal_access_tokens
  referencing old table as old_rows new table as new_rows for each statement execute function count_tokens_updated();

create function count_members_inserted() returns trigger language plpgsql as $$
begin
  insert into organisation_counters as counters (org_id, members)
    select org_id, count(*) from new_rows where removed_at is null group by org_id order by org_id
  on conflict (org_id) do update set members = counters.members + excluded.members;
  return null;
end $$;
create trigger count_members_inserted after insert on users
  referencing new table as new_rows for each statement execute function count_members_inserted();

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
create trigger count_members_updated after update on users
  referencing old table as old_rows new table as new_rows for each statement execute function count_members_updated();

create function count_audit_entries() returns trigger language plpgsql as $$
begin
  insert into organisation_counters as counters (org_id, audit_entries)
    select org_id, count(*) from new_rows group by org_id order by org_id
  on conflict (org_id) do update set audit_entries = counters.audit_entries + excluded.audit_entries;
  return null;
end $$;
create trigger count_audit_entries after insert on audit_entries
  referencing new table as new_rows for each statement execute function count_audit_entries();

-- What was written stays ----------------------------------------------------------------------

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;
create trigger audit_is_append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_change();

-- Revocation is irreversible, and a token never changes its owner, organisation, scopes or expiry.
create function keep_token() returns trigger language plpgsql as $$
begin
  if old.status <> 'active' and new.status <> old.status then
    raise exception 'a token never leaves the state %', old.status;
  end if;
  if (new.id, new.org_id, new.owner_id, new.token_hash, new.scopes, new.created_at)
     is distinct from (old.id, old.org_id, old.owner_id, old.token_hash, old.scopes, old.created_at)
     or new.expires_at is distinct from old.expires_at then
    raise exception 'a token never changes what it grants';
  end if;
  return new;
end $$;
create trigger token_is_kept before update on personal_access_tokens
  for each row execute function keep_token();
