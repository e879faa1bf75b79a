import { insertFactsOf, toIsoTime } from '@platform/events';
import { auditActions } from './actions.js';

/** The cases of an entry's type, of which most are `audit.entry`. */
const publicCases = Object.entries(auditActions).flatMap(([action, type]) => {
  if (type === 'audit.entry') return [];
  if (typeof type === 'string') return [`when action = '${action}' then '${type}'`];
  const detail = `'${JSON.stringify(type.where)}'::jsonb`;
  return [`when action = '${action}' and detail @> ${detail} then '${type.type}'`];
});

/**
 * Returns the insert of the facts that entries are. Each statement that inserts entries ends with it:
 * `with entry as (insert into audit_entries … returning *) ${insertFactsOfEntries('entry')}`.
 *
 * @param entries - a relation with all columns of `audit_entries`.
 */
export const insertFactsOfEntries = (entries: string): string =>
  insertFactsOf(`(
    select id, org_id, case ${publicCases.join('\n      ')}
      else 'audit.entry' end as type, created_at as at, json_build_object(
        'id', id, 'action', action, 'actorId', actor_id,
        'credential', case when credential_kind is not null then
          json_build_object('kind', credential_kind, 'id', credential_id) end,
        'address', address, 'userAgent', user_agent, 'requestId', request_id, 'subjectId', subject_id, 'reason', reason, 'detail', detail,
        'changes', changes, 'createdAt', ${toIsoTime('created_at')}) as data
    from ${entries}) as fact`);
