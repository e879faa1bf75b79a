-- The token that made a token, or the nearest one above it that lives: revoking that one revokes this one too. Null for
-- a token that was made with a session.
alter table personal_access_tokens add column parent_id uuid references personal_access_tokens (id);

-- A family is walked from a token down through those that live.
create index tokens_of_parent on personal_access_tokens (parent_id) where status = 'active' and parent_id is not null;

-- What the audit knows of the tokens that live.
update personal_access_tokens token set parent_id = parent.id
from audit_entries entry, personal_access_tokens parent
where entry.action = 'token.created' and entry.subject_id = token.id and entry.org_id = token.org_id
  and entry.detail -> 'credential' ->> 'kind' = 'pat'
  and parent.id = (entry.detail -> 'credential' ->> 'id')::uuid
  and token.status = 'active' and parent.status = 'active';
