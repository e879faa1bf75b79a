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
