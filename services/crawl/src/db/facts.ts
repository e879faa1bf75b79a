import { DEFAULT_INSTANCE, MAX_AUDITED_VALUE_LENGTH, OPERATOR_ACTION } from '@platform/events';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Act, ActName } from '../domain/act.js';

/*
 * The facts of this service for identity: what the audit records, and crawls that keep failing. The statement that
 * causes a fact stores it. The ends of runs are facts, too, which a trigger stores.
 */

/** Identity sorts the audit by ids of the time, so this is the beginning of one; the rest is random. */
const toIdPrefix = (at: Date): string => uuidv7({ msecs: at.getTime() }).slice(0, 15);

/** Returns the parameter of {@link insertAudit}. Null, for what nobody did, inserts nothing. */
export function toAudit(action: ActName, act: Act | null): string | null {
  if (act === null) return null;
  const { actor, at, detail = {} } = act;
  const values = Object.entries(detail).filter(([, value]) => value !== null);
  const shown = values.map(([name, value]) => [
    name,
    String(value).slice(0, MAX_AUDITED_VALUE_LENGTH).toWellFormed(),
  ]);
  return JSON.stringify({
    id_prefix: toIdPrefix(at),
    at,
    data: { action, ...actor, detail: Object.fromEntries(shown) },
  });
}

/**
 * Stores an entry of the audit for each row of `source`.
 *
 * @param source - has the columns org_id, subject_id (of what it was done to, or null) and detail (jsonb).
 * @param audit - the parameter, or literal, with the result of {@link toAudit}.
 */
export const insertAudit = (source: string, audit: string) => `
  insert into facts (id, org_id, type, data, created_at, due_at)
  select (act.id_prefix || substr(gen_random_uuid()::text, 16))::uuid, done.org_id, 'audit.entry',
    act.data || jsonb_build_object('subjectId', done.subject_id, 'detail', done.detail || (act.data -> 'detail')), act.at, act.at
  from (${source}) as done, jsonb_to_record(${audit}::jsonb) as act (id_prefix text, data jsonb, at timestamptz)
  where ${audit}::jsonb is not null`;

/** Selects what {@link insertAudit} needs from rows of an instance. @param subject - the column of the subject's id. */
export const auditedInstance = (rows: string, subject: string) =>
  `select org_id, ${subject} as subject_id, jsonb_build_object('connector', connector, 'instance', instance) as detail from ${rows}`;

/** Stores that an operator ran a command, for the audit of every organisation that has crawls. */
export const recordCommand = (
  db: Pick<pg.ClientBase, 'query'>,
  command: string,
  at: Date,
): Promise<unknown> =>
  db.query(
    `insert into facts (id, org_id, type, data, created_at, due_at)
     select ($1::text || substr(gen_random_uuid()::text, 16))::uuid, org_id, 'audit.entry', jsonb_build_object(
       'action', '${OPERATOR_ACTION}', 'actorId', null, 'credential', null, 'address', null, 'userAgent', null,
       'subjectId', org_id, 'reason', 'command', 'detail', jsonb_build_object('command', $2::text)), $3::timestamptz, $3
     from (select org_id from schedules union select org_id from runs) concerned`,
    [toIdPrefix(at), command, at],
  );

/** A connector is reported once a day; a daily run that starts a moment earlier than the day before counts. */
const PERIOD = `interval '20 hours'`;

/** The value of `noticed_at` after a run of the state `c` has failed. @param after - so many failures in a row are noticed. */
export const noticedAfterFailure = (after: string, now: string) => `
  case when c.consecutive_failures + 1 >= ${after} and (c.noticed_at is null or c.noticed_at <= ${now}::timestamptz - ${PERIOD})
    then ${now}::timestamptz else c.noticed_at end`;

/**
 * Stores that connectors keep failing, or complete again.
 *
 * @param source - has the columns org_id, connector, instance, failures and reason.
 */
export const insertCrawlFacts = (type: 'crawl.failing' | 'crawl.recovered', source: string, now: string) => `
  insert into facts (id, org_id, type, data, created_at, due_at)
  select gen_random_uuid(), c.org_id, '${type}', jsonb_build_object(
    'connector', c.connector, 'instance', c.instance, 'failures', c.failures, 'reason', c.reason,
    'name', coalesce((select display_name from connector_instances i
      where i.org_id = c.org_id and i.connector = c.connector and i.instance = c.instance),
      c.connector || case when c.instance = '${DEFAULT_INSTANCE}' then '' else ' (' || c.instance || ')' end)),
    ${now}::timestamptz, ${now}::timestamptz
  from (${source}) as c`;
