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
