-- Passkeys of members, as a second factor (WebAuthn). The private key never leaves the member's device.
create table passkeys (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  user_id uuid not null references users (id),
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
  user_id uuid not null references users (id),
  challenge text not null,
  expires_at timestamptz(3) not null
);
create index passkey_challenges_user on passkey_challenges (user_id);
create index passkey_challenges_expiry on passkey_challenges (expires_at);
