-- MCP servers of an organisation, whose tools are offered through /mcp.
create table mcp_servers (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  name text not null check (name ~ '^[a-z0-9][a-z0-9_-]{0,31}$' and name !~ '__|_$'),
  url text not null,
  credential text not null check (credential in ('none', 'secret', 'assertion')),
  secret_header text,
  secret_sealed text,
  rules jsonb not null default '[]',
  is_enabled boolean not null default true,
  -- Grows with each change of how the server is reached: connections belong to one revision.
  revision integer not null default 1,
  created_at timestamptz(3) not null,
  next_refresh_at timestamptz(3) not null,
  -- The last refresh that succeeded, and why the last one failed, if it did.
  refreshed_at timestamptz(3),
  refresh_fault text,
  protocol_version text,
  constraint mcp_server_names unique (org_id, name),
  constraint secret_has_header check ((credential = 'secret') = (secret_sealed is not null)
    and (secret_sealed is null) = (secret_header is null))
);
create index mcp_servers_of_org on mcp_servers (org_id, id);
create index mcp_servers_due on mcp_servers (next_refresh_at) where is_enabled;

-- The tools of a server: what it offers now (null: no longer offered) and what an administrator has approved. A tool is
-- in effect while both hashes are the same. Definitions are JSON as text, because jsonb can't store every string.
create table mcp_tools (
  server_id uuid not null references mcp_servers (id) on delete cascade,
  org_id uuid not null,
  name text collate "C" not null,
  offered text,
  offered_hash text,
  approved text,
  approved_hash text,
  scope text check (scope in ('kb:read', 'semantic:write', 'none')),
  primary key (server_id, name)
);

-- One row for each organisation that has had a server. The version grows with each change of the tools in effect; the
-- liveness check of every request reads it.
create table mcp_catalogues (
  org_id uuid primary key references organisations (id),
  version bigint not null
);
