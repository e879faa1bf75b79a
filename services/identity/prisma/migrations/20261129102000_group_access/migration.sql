-- Who may use a mounted server, and each of its tools: everybody, or while `is_limited` the accounts that are in one of the
-- groups. No group left means nobody.
alter table mcp_servers add column is_limited boolean not null default false, add column allowed_groups uuid[] not null default '{}';
alter table mcp_tools add column is_limited boolean not null default false, add column allowed_groups uuid[] not null default '{}';
