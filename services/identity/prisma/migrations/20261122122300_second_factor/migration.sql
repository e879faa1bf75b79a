-- The authenticator app of a member. A code is accepted once: only one of a later time step than the last.
create table totp_factors (
  user_id uuid primary key references users (id),
  org_id uuid not null references organisations (id),
  secret_sealed text not null,
  last_step bigint not null,
  -- Wrong codes since the first of the current day; they are refused at a limit, from whichever network they come.
  wrong_codes integer not null default 0,
  wrong_since timestamptz(3),
  created_at timestamptz(3) not null
);

-- Recovery codes that have not been used. Each is random, so that a plain SHA-256 cannot be reversed.
create table recovery_codes (
  user_id uuid not null references users (id),
  code_hash text not null,
  created_at timestamptz(3) not null,
  primary key (user_id, code_hash)
);

-- Sign-ins whose first factor was right and whose second is awaited. A changed password ends them, because they belong
-- to the password that `password_digest` is the SHA-256 of.
create table pending_sign_ins (
  token_hash text primary key,
  org_id uuid not null references organisations (id),
  user_id uuid not null references users (id),
  method text not null check (method in ('password', 'code', 'invitation')),
  password_digest text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create index pending_sign_ins_expiry on pending_sign_ins (expires_at);
