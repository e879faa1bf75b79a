-- One per organisation. The password is sealed by the service; nothing else here is a secret.
create table smtp_configurations (
  org_id uuid primary key references organisations (id),
  host text not null,
  port integer not null check (port between 1 and 65535),
  from_email text not null,
  username text,
  password_sealed text,
  tls text not null check (tls in ('auto', 'starttls', 'implicit', 'none')),
  updated_at timestamptz(3) not null,
  constraint password_has_username check (password_sealed is null or username is not null)
);
