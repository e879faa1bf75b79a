import { currentTraceparent } from '@platform/service-kit';
import type pg from 'pg';
import { toKey } from './kafka-message.js';
import type { SyncEvent } from './sync-event.js';

/** The result of {@link insertOutboxEvent}. */
export interface OutboxInsert {
  /** The id of the run's event, which is the given one or that of an earlier insert for the same run. */
  readonly eventId: string;
  readonly isNew: boolean;
}

/**
 * Builds the insert as a part of a larger statement, so that one statement can both end runs and write their events.
 *
 * The order of the rows is that of `events`: a plan that joins them would choose one.
 *
 * @param source - the relation with the column `id`, the runs whose events are to be written.
 * @param events - the parameter, or literal, with the result of {@link toOutboxRows}, which may have events of other runs.
 */
export const insertOutboxEventsOf = (source: string, events: string): string => `
  insert into outbox.events (event_id, cause, org_id, event_key, event, traceparent)
  select event_id, cause, org_id, event_key, event::json, traceparent
  from rows from (jsonb_to_recordset(${events}::jsonb) as (
      event_id uuid, cause text, org_id text, event_key text, event text, traceparent text))
    with ordinality as given (event_id, cause, org_id, event_key, event, traceparent, number)
  where cause in (select id::text from ${source}) order by number on conflict (cause) do nothing`;

/** The event of a run. */
export interface RunEvent {
  readonly runId: string;
  readonly event: SyncEvent;
  /** The trace that the event belongs to, if there is one. */
  readonly traceparent: string | undefined;
}

/** Returns the parameter of {@link insertOutboxEventsOf}. */
export const toOutboxRows = (events: readonly RunEvent[]): string =>
  JSON.stringify(
    events.map(({ runId, event, traceparent }) => ({
      event_id: event.eventId,
      cause: runId,
      org_id: event.payload.orgId,
      event_key: toKey(event),
      event: JSON.stringify(event),
      traceparent,
    })),
  );

const insert = insertOutboxEventsOf('(select $1::text as id) as given_run', '$2');

/**
 * Writes the event of a run, once per run: a second call for the same run changes nothing and returns the first id.
 *
 * @param client - the client of the caller's open transaction, so that event and end of the run are committed together.
 * Call {@link EventRelay.wake} after the commit to publish the event immediately.
 */
export async function insertOutboxEvent(
  client: Pick<pg.ClientBase, 'query'>,
  event: SyncEvent,
  { runId }: { readonly runId: string },
): Promise<OutboxInsert> {
  const { rowCount } = await client.query({
    name: 'outbox-insert',
    text: insert,
    values: [runId, toOutboxRows([{ runId, event, traceparent: currentTraceparent() }])],
  });
  if (rowCount === 1) return { eventId: event.eventId, isNew: true };
  const { rows } = await client.query<{ event_id: string }>({
    name: 'outbox-of-run',
    text: 'select event_id from outbox.events where cause = $1',
    values: [runId],
  });
  // The retention deleted the earlier row between the two statements.
  return { eventId: rows[0]?.event_id ?? event.eventId, isNew: false };
}
