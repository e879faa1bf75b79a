import { connectors } from '@platform/events';
import { execute } from '../../servers/service.js';

/** The number of schedules of a large service. */
export const SCHEDULES = 50_000;

/*
 * Inserts the rows that the API would have written, in one statement. Each organisation has every connector.
 */
const insertInto = `
  with orgs as materialized (select g, uuidv7() as id from generate_series(0, $1::int / cardinality($2::text[])) g)
  insert into schedules (id, org_id, connector, user_id, config, priority, max_retries, timeout_ms, state, revision,
    scheduled_at, next_run_at, anchor_at)
  select uuidv7(), orgs.id, ($2::text[])[1 + n % cardinality($2::text[])], orgs.id,
    config || '{"isEnabled": true, "timezone": "UTC", "missedRunPolicy": "run_once"}', 5, 3, 300000, 'active',
    nextval('schedule_revisions'), now(), at, now()
  from generate_series(0, $1::int - 1) n join orgs on orgs.g = n / cardinality($2::text[]), lateral`;

/** The first `$4` are due at `$3`, the others two to twenty-two hours later. */
const insertDaily = `${insertInto} (
    select $3::timestamptz + case when n < $4::int then '0' else make_interval(mins => 120 + n % 1200) end as at
  ) due, lateral (
    select jsonb_build_object('scheduleType', 'daily', 'hour', extract(hour from at)::int,
      'minute', extract(minute from at)::int, 'jitterMs', 0) as config
  ) as daily`;

/** Schedules that run every minute; `$3` is their jitter in milliseconds. */
const insertMinutely = `${insertInto} (
    select now() + make_interval(secs => 5 * random()) as at, jsonb_build_object('scheduleType', 'custom',
      'cronExpression', '* * * * *', 'jitterMs', $3::int) as config
  ) as minutely`;

const insert = (databaseUrl: string, statement: string, count: number, ...values: readonly unknown[]) =>
  execute(
    databaseUrl,
    [`set timezone = 'UTC'`],
    [statement, [count, [...connectors], ...values]],
    ['vacuum analyze schedules'],
  );

/** @param dueAt - a full minute, in milliseconds since the epoch. */
export const insertDailySchedules = (databaseUrl: string, dueAt: number, due: number, count = SCHEDULES) =>
  insert(databaseUrl, insertDaily, count, new Date(dueAt), due);

export const insertMinutelySchedules = (databaseUrl: string, count: number, jitterMs: number) =>
  insert(databaseUrl, insertMinutely, count, jitterMs);
