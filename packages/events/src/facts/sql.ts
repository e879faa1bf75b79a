import { OPERATOR_ACTION } from './contracts.js';

/** Writes a time in ISO 8601, as `Date.toISOString` does. */
export const toIsoTime = (time: string): string =>
  `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Returns the insert of facts into the outbox of identity as a part of a larger statement, so that what happened and its
 * fact are stored by one statement.
 *
 * @param source - a relation with the columns id and org_id (uuid), type, at (timestamptz) and data (json).
 */
export const insertFactsOf = (source: string): string => `
  insert into outbox.events (event_id, cause, org_id, event_key, event)
  select id, id, org_id, org_id, json_build_object(
    'specversion', '1.0', 'id', id, 'source', '/organisations/' || org_id, 'type', type, 'time', ${toIsoTime('at')},
    'datacontenttype', 'application/json', 'data', data)
  from ${source} order by id`;

/**
 * The facts of another service that identity has not stored yet. Its migration holds this text verbatim, and a test of the
 * service compares them.
 */
export const factReportsSql = `-- Facts that identity has not stored yet. A row is deleted once it has.
create table facts (
  id uuid primary key,
  org_id uuid not null,
  type text not null,
  data jsonb not null,
  created_at timestamptz(3) not null,
  -- When a replica next hands it to identity.
  due_at timestamptz(3) not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index facts_due on facts (due_at, id);
`;

/**
 * Returns the insert of facts that another service is to hand to identity, as a part of a larger statement: whatever causes a
 * fact stores it.
 *
 * @param source - a relation with the columns id and org_id (uuid), type, data (jsonb) and at (timestamptz).
 */
export const insertFactReportsOf = (source: string): string => `
  insert into facts (id, org_id, type, data, created_at, due_at)
  select id, org_id, type, data, at, at from ${source}`;

/**
 * Returns the insert that reports to the audit that an operator ran a command. `$1` is its name, `$2` the time.
 *
 * @param organisations - a select of the `org_id` of each organisation that it concerns.
 */
export const insertCommandReports = (organisations: string): string =>
  insertFactReportsOf(`(
    select uuid_v7($2::timestamptz) as id, org_id, 'audit.entry' as type, jsonb_build_object(
        'action', '${OPERATOR_ACTION}', 'actorId', null, 'credential', null, 'address', null, 'userAgent', null, 'requestId', null,
        'subjectId', org_id, 'reason', 'command', 'detail', jsonb_build_object('command', $1::text)) as data,
      $2::timestamptz as at
    from (${organisations}) concerned) as fact`);
