-- compatible-with: 20261124000000_initial
-- What the audit records is a fact for others, too, and some of it is one of another type besides. In the statement that
-- records it, whatever writes that: none can be forgotten.
create function note_facts() returns trigger language plpgsql as $$
begin
  insert into outbox.events (event_id, cause, org_id, event_key, event)
    select fact.id, fact.id, org_id, org_id, json_build_object(
      'specversion', '1.0', 'id', fact.id, 'source', '/organisations/' || org_id, 'type', fact.type,
      'time', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'datacontenttype', 'application/json',
      'data', json_build_object(
        'id', new_rows.id, 'action', action, 'actorId', actor_id,
        'credential', case when credential_kind is not null then
          json_build_object('kind', credential_kind, 'id', credential_id) end,
        'address', address, 'userAgent', user_agent, 'subjectId', subject_id, 'reason', reason, 'detail', detail,
        'changes', changes, 'createdAt', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
    from new_rows cross join lateral (
      select new_rows.id, 'audit.entry' as type
      union all
      select gen_random_uuid(), named.type from (values
        ('token.created', 'token.created'), ('token.rotated', 'token.rotated'), ('token.revoked', 'token.revoked'),
        ('token.expiring', 'token.expiring'), ('token.leaked', 'token.leaked'), ('token.reused', 'token.reused'),
        ('user.invited', 'member.invited'), ('user.created', 'member.joined'), ('invitation.accepted', 'member.joined'),
        ('user.removed', 'member.removed'), ('user.role_changed', 'member.role_changed'),
        ('connected_app.authorized', 'app.connected'), ('connected_app.revoked', 'app.disconnected'),
        ('mcp_server.tools_offered', 'mcp.definition_changed'), ('mcp_server.unreachable', 'mcp.server_down'),
        ('session.created', 'session.suspicious')
      ) as named (action, type)
      where named.action = new_rows.action and (named.type <> 'session.suspicious' or detail ->> 'device' = 'new')
    ) fact
    order by new_rows.id;
  return null;
end $$;

create trigger note_facts after insert on audit_entries referencing new table as new_rows for each statement execute function note_facts();
