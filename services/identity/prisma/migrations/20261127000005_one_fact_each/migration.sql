-- compatible-with: 20261124000000_initial
-- One fact for each entry of the audit, under its id: its type is what the entry means to others, or else `audit.entry`. Two
-- facts of one entry doubled the time of acts that write thousands of them, such as the revocation of all tokens.
create or replace function note_facts() returns trigger language plpgsql as $$
begin
  insert into outbox.events (event_id, cause, org_id, event_key, event)
    select id, id, org_id, org_id, json_build_object(
      'specversion', '1.0', 'id', id, 'source', '/organisations/' || org_id,
      'type', case
        when action in ('token.created', 'token.rotated', 'token.revoked', 'token.expiring', 'token.leaked', 'token.reused') then action
        when action = 'user.invited' then 'member.invited'
        when action in ('user.created', 'invitation.accepted') then 'member.joined'
        when action = 'user.removed' then 'member.removed'
        when action = 'user.role_changed' then 'member.role_changed'
        when action = 'session.created' and detail ->> 'device' = 'new' then 'session.suspicious'
        when action = 'connected_app.authorized' then 'app.connected'
        when action = 'connected_app.revoked' then 'app.disconnected'
        when action = 'mcp_server.tools_offered' then 'mcp.definition_changed'
        when action = 'mcp_server.unreachable' then 'mcp.server_down'
        else 'audit.entry' end,
      'time', happened.at, 'datacontenttype', 'application/json',
      'data', json_build_object(
        'id', id, 'action', action, 'actorId', actor_id,
        'credential', case when credential_kind is not null then
          json_build_object('kind', credential_kind, 'id', credential_id) end,
        'address', address, 'userAgent', user_agent, 'subjectId', subject_id, 'reason', reason, 'detail', detail,
        'changes', changes, 'createdAt', happened.at))
    from new_rows
      cross join lateral (select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at) happened
    order by id;
  return null;
end $$;
