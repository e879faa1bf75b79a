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
 * Builds the insert as a part of a larger statement, so that one statement can both end a run and write its event.
 *
 * @param source - the relation to select from; it has one row when the event is to be written, and none otherwise.
 * @param first - the number of the first of the six parameters from {@link outboxValues}.
 */
export const outboxInsertFrom = (source: string, first: number): string => `
  insert into outbox.events (event_id, cause, org_id, event_key, event, traceparent)
  select $${first}::uuid, $${first + 1}::text, $${first + 2}::text, $${first + 3}::text, $${first + 4}::json, $${first + 5}::text
  from ${source} on conflict (cause) do nothing`;

/** Returns the parameters of {@link outboxInsertFrom}: the first is the event's id, the last the current trace. */
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
    values: [...outboxValues(event, runId)],
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
