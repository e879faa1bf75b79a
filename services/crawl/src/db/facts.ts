import {
  DEFAULT_INSTANCE,
  type FactType,
  insertCommandReports,
  insertFactReportsOf,
  MAX_AUDITED_VALUE_LENGTH,
} from '@platform/events';
import type pg from 'pg';
import type { Act, ActName } from '../domain/act.js';
import type { RunState } from '../domain/run-state.js';

/*
 * The facts of this service for identity: what the audit records, the ends of runs, and crawls that keep failing. The
 * statement that causes a fact stores it. Identity sorts the audit by ids of the time.
 */

/** The types of facts that the ends of runs are; null for states in which a run goes on. */
const endTypes = {
  waiting: null,
  active: null,
  retrying: null,
  completed: 'crawl.run.completed',
  failed: 'crawl.run.failed',
  aborted: 'crawl.run.aborted',
  skipped: 'crawl.run.skipped',
} as const satisfies Readonly<Record<RunState, FactType | null>>;

const endCases = Object.entries(endTypes)
  .filter(([, type]) => type !== null)
  .map(([state, type]) => `when '${state}' then '${type}'`)
  .join(' ');

/**
 * Stores the facts that the ends of runs are. Of several skipped runs in a row, only the first one is: a schedule of each
 * minute behind a long crawl would produce thousands a day.
 *
 * @param ended - a relation with all columns of `runs`.
 */
export const insertRunFacts = (ended: string) =>
  insertFactReportsOf(`(
    select gen_random_uuid() as id, org_id, case state ${endCases} end as type, jsonb_build_object(
        'runId', id, 'connector', connector, 'instance', instance, 'trigger', trigger, 'worker', worker, 'mode', mode,
        'scheduledFor', scheduled_for, 'nextRunAt', (
          select next_run_at from schedules s
          where s.org_id = run.org_id and s.connector = run.connector and s.instance = run.instance),
        'startedAt', started_at, 'attempts', attempts, 'counters', counters,
        'reason', reason, 'source', case when worker <> 'event' then (
          select source from connector_states c
          where c.org_id = run.org_id and c.connector = run.connector and c.instance = run.instance) end) as data,
      finished_at as at
    from ${ended} run
    where state <> 'skipped' or (
      select before.state from runs before
      where before.org_id = run.org_id and before.connector = run.connector and before.instance = run.instance
        and before.id < run.id
      order by before.id desc limit 1) is distinct from 'skipped') as fact where type is not null`);

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
export const insertAudit = (source: string, audit: string) =>
  insertFactReportsOf(`(
    select uuid_v7(act.at) as id, done.org_id, 'audit.entry' as type, act.at,
      act.data || jsonb_build_object('subjectId', done.subject_id, 'detail', done.detail || (act.data -> 'detail')) as data
    from (${source}) as done, jsonb_to_record(${audit}::jsonb) as act (data jsonb, at timestamptz)
    where ${audit}::jsonb is not null) as fact`);

/** Selects what {@link insertAudit} needs from rows of an instance. @param subject - the column of the subject's id. */
export const auditedInstance = (rows: string, subject: string) =>
  `select org_id, ${subject} as subject_id, jsonb_build_object('connector', connector, 'instance', instance) as detail from ${rows}`;

/** Stores that an operator ran a command, for the audit of every organisation that has crawls. */
export const recordCommand = (
  db: Pick<pg.ClientBase | pg.Pool, 'query'>,
  command: string,
  at: Date,
): Promise<unknown> =>
  db.query(insertCommandReports('select org_id from schedules union select org_id from runs'), [command, at]);

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
export const insertCrawlFacts = (type: 'crawl.failing' | 'crawl.recovered', source: string, now: string) =>
  insertFactReportsOf(`(
    select gen_random_uuid() as id, c.org_id, '${type}' as type, ${now}::timestamptz as at, jsonb_build_object(
      'connector', c.connector, 'instance', c.instance, 'failures', c.failures, 'reason', c.reason,
      'name', coalesce((select display_name from connector_instances i
        where i.org_id = c.org_id and i.connector = c.connector and i.instance = c.instance),
        c.connector || case when c.instance = '${DEFAULT_INSTANCE}' then '' else ' (' || c.instance || ')' end)) as data
    from (${source}) as c) as fact`);
