-- The migration that introduced families joined a token to its creator only where that was still active. A token whose
-- creator had been revoked belongs to the nearest active token above it: the audit knows who created whom.
with recursive creators as (
  select subject_id as token_id, org_id, coalesce(credential_id, (detail -> 'credential' ->> 'id')::uuid) as creator_id
  from audit_entries
  where action = 'token.created' and coalesce(credential_kind, detail -> 'credential' ->> 'kind') = 'pat'
), ancestors as (
  select token.id as token_id, token.org_id, creators.creator_id as ancestor_id
  from personal_access_tokens token
    join creators on creators.token_id = token.id and creators.org_id = token.org_id
  where token.status = 'active' and token.parent_id is null
  union
  select ancestors.token_id, ancestors.org_id, creators.creator_id
  from ancestors
    join personal_access_tokens ancestor on ancestor.id = ancestors.ancestor_id and ancestor.status <> 'active'
    join creators on creators.token_id = ancestor.id and creators.org_id = ancestors.org_id
)
update personal_access_tokens token set parent_id = parent.id
from ancestors
  join personal_access_tokens parent on parent.id = ancestors.ancestor_id and parent.org_id = ancestors.org_id
where token.id = ancestors.token_id and parent.status = 'active';
