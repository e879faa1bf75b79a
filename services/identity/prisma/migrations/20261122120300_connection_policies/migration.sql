-- Which applications the members of an organisation may connect. Without a row, all that the operator allows.
create table connection_policies (
  org_id uuid primary key references organisations (id),
  client_kinds text[] not null,
  -- The hosts whose documents describe clients; empty for all.
  hosts text[] not null,
  connectable_by text not null check (connectable_by in ('members', 'administrators')),
  max_lifetime_days integer check (max_lifetime_days > 0),
  updated_at timestamptz(3) not null
);
