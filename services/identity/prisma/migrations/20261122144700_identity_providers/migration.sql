-- The OpenID provider with which the members of an organisation sign in. `revision` is another one after every change, so
-- that a sign-in that began with other settings is not completed.
create table identity_providers (
  org_id uuid primary key references organisations (id),
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
  updated_at timestamptz(3) not null
);

-- The domains of the e-mail addresses that an organisation's provider may speak for. Anybody may name a domain; one that
-- is verified belongs to one organisation.
create table identity_domains (
  org_id uuid not null references organisations (id),
  domain text not null,
  -- What the DNS record has to contain. It is no secret.
  challenge text not null,
  created_at timestamptz(3) not null,
  verified_at timestamptz(3),
  verified_by text check (verified_by in ('dns', 'command')),
  primary key (org_id, domain),
  constraint identity_domains_verified check ((verified_at is null) = (verified_by is null))
);
create unique index identity_domains_verified_key on identity_domains (domain) where verified_at is not null;

-- Which account a subject of the provider signs in to. The row of a removed member stays, so that the same person does
-- not become a member again without an administrator.
create table provider_links (
  user_id uuid primary key references users (id),
  org_id uuid not null references organisations (id),
  issuer text not null,
  subject text not null,
  created_at timestamptz(3) not null,
  constraint provider_links_subject_key unique (org_id, issuer, subject)
);

-- Sign-ins that a browser has begun at a provider. State and browser are known by their SHA-256 only; what is derived
-- from them (nonce, PKCE verifier) is not stored.
create table provider_sign_ins (
  state_hash text primary key,
  org_id uuid not null references organisations (id),
  revision uuid not null,
  browser_hash text not null,
  return_to text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create index provider_sign_ins_expiry on provider_sign_ins (expires_at);

-- How the member authenticated, so that the sessions of a provider end with it. Null for sessions of older replicas.
alter table sessions add column first_factor text;

-- The service knows the methods; a list here would have to change with each new one.
alter table pending_sign_ins drop constraint if exists pending_sign_ins_method_check;
