-- The ranges that a token may be used from; empty for any address.
alter table personal_access_tokens add column allow_list inet[] not null default '{}';

-- What an organisation demands of its members' tokens. Without a row, nothing.
create table token_policies (
  org_id uuid primary key references organisations (id),
  allow_list inet[] not null default '{}',
  revoke_family_on_reuse boolean not null default false,
  updated_at timestamptz(3) not null
);
