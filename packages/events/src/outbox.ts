import { currentTraceparent } from '@platform/service-kit';
import type pg from 'pg';
import { keyOf } from './kafka-message.js';
import type { SyncEvent } from './sync-event.js';

/** What {@link insertOutboxEvent} found or made. */
export interface OutboxInsert {
  /** The id of the run's event: the given one, or that of an earlier insert for the same run. */
  readonly eventId: string;
  readonly isNew: boolean;
}

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
    text: `insert into sync_events.outbox (event_id, run_id, org_id, event_key, event, traceparent)
           values ($1, $2, $3, $4, $5, $6) on conflict (run_id) do nothing`,
    values: [
      event.eventId,
      runId,
      event.payload.orgId,
      keyOf(event),
      JSON.stringify(event),
      currentTraceparent() ?? null,
    ],
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
