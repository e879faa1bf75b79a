-- What is mailed to somebody and works once: one row per purpose and address, the newest replaces
-- the one before. A code asked for an address without an account has a row too (user_id is null):
-- a guess at it does the same work as a guess at a real one.
create table one_time_secrets (
  purpose text not null check (purpose in ('login_code', 'password_reset', 'invitation')),
  -- SHA-256 of the e-mail address.
  subject text not null,
  user_id uuid references users (id),
  secret_hash text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  tries_left integer not null check (tries_left >= 0),
  used_at timestamptz(3),
  primary key (purpose, subject)
);
-- A link is found by its hash alone.
create unique index one_time_secrets_of_links on one_time_secrets (secret_hash) where purpose <> 'login_code';
create index one_time_secrets_of_user on one_time_secrets (user_id);
create index one_time_secrets_expiry on one_time_secrets (expires_at);

-- Mails on their way to the mail service, written in the transaction of what caused them. A row is
-- deleted when its mail was sent, or is of no use any more. The sealed letter holds the code or link.
create table outgoing_mails (
  id uuid primary key,
  kind text not null
    check (kind in ('login_code', 'password_reset', 'invitation', 'account_created', 'suspicious_login')),
  user_id uuid references users (id),
  -- As somebody typed it: whether there is an account is looked up when the mail is prepared.
  email text,
  detail jsonb not null default '{}',
  letter_sealed text,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  attempts integer not null default 0,
  -- How often the mail certainly wasn't accepted: each time needs an idempotency key of its own.
  refusals integer not null default 0,
  next_attempt_at timestamptz(3) not null,
  constraint one_addressee check (num_nonnulls(user_id, email) = 1)
);
create index outgoing_mails_due on outgoing_mails (next_attempt_at);
create index outgoing_mails_expiry on outgoing_mails (expires_at);

-- Networks and programs that an account has signed in from; `client` is a SHA-256 of both.
create table known_clients (
  user_id uuid not null references users (id),
  client text not null,
  seen_at timestamptz(3) not null,
  primary key (user_id, client)
);

-- A password reset ends all sessions of an account.
create index sessions_of_user on sessions (user_id) where ended_at is null;
