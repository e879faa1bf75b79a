import { currentTraceparent } from '@platform/service-kit';
import type pg from 'pg';
import { toKey } from './kafka-message.js';
import type { SyncEvent } from './sync-event.js';

/** What {@link insertOutboxEvent} found or made. */
export interface OutboxInsert {
  /** The id of the run's event: the given one, or that of an earlier insert for the same run. */
  readonly eventId: string;
  readonly isNew: boolean;
}

/**
 * The insert as a part of a larger statement: where a run's end is one statement, its event goes with it.
 *
 * @param source - what the statement selects from: one row when the event is to be written, none when it isn't.
 * @param first - the number of the first of six parameters, which are {@link outboxValues}.
 */
export const outboxInsertFrom = (source: string, first: number): string => `
  insert into sync_events.outbox (event_id, run_id, org_id, event_key, event, traceparent)
  select $${first}::uuid, $${first + 1}::text, $${first + 2}::text, $${first + 3}::text, $${first + 4}::json, $${first + 5}::text
  from ${source} on conflict (run_id) do nothing`;

/** The parameters of {@link outboxInsertFrom}; the first is the event's id, the last the trace that is running. */
export const outboxValues = (event: SyncEvent, runId: string): readonly (string | null)[] => [
  event.eventId,
  runId,
  event.payload.orgId,
  toKey(event),
  JSON.stringify(event),
  currentTraceparent() ?? null,
];

const insert = outboxInsertFrom('(values (true)) as always', 1);

/**
 * Writes the event of a run, once per run: a second call for the same run changes nothing and returns the first id.
 *
 * @param client - of the caller's open transaction, so that the event exists if and only if the run's end does.
 * Call {@link EventRelay.wake} after the commit: that is what makes publishing immediate.
 */
export async function insertOutboxEvent(
  client: Pick<pg.ClientBase, 'query'>,
  event: SyncEvent,
  { runId }: { readonly runId: string },
): Promise<OutboxInsert> {
  const { rowCount } = await client.query({
    name: 'outbox-insert',
    text: insert,
    values: [...outboxValues(event, runId)],
  });
  if (rowCount === 1) return { eventId: event.eventId, isNew: true };
  const { rows } = await client.query<{ event_id: string }>({
    name: 'outbox-of-run',
    text: 'select event_id from sync_events.outbox where run_id = $1',
    values: [runId],
  });
  // The earlier row was deleted between the two statements: it was old enough to be forgotten.
  return { eventId: rows[0]?.event_id ?? event.eventId, isNew: false };
}
