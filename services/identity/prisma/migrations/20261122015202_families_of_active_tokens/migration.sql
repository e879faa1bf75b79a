-- What the audit knows of the tokens that live.
update personal_access_tokens token set parent_id = parent.id
from audit_entries entry, personal_access_tokens parent
where entry.action = 'token.created' and entry.subject_id = token.id and entry.org_id = token.org_id
  and entry.detail -> 'credential' ->> 'kind' = 'pat'
  and parent.id = (entry.detail -> 'credential' ->> 'id')::uuid
  and token.status = 'active' and parent.status = 'active';
