import type { FactEvent } from '@platform/events';
import type { SqlClient } from '../base/sql-client.js';

/** A fact that is no entry of the audit, which the database makes a fact itself. */
export interface NewFact {
  readonly id: string;
  readonly orgId: string;
  readonly type: FactEvent['type'];
  /** In ISO 8601. */
  readonly at: string;
  readonly data: FactEvent['data'];
}

const toEvent = ({ id, orgId, type, at, data }: NewFact): FactEvent => ({
  specversion: '1.0',
  id,
  source: `/organisations/${orgId}`,
  type,
  time: at,
  datacontenttype: 'application/json',
  data,
});

/** Adds facts to the feed of their organisations, in the given order. @returns the ids of the new facts. */
export async function insertFacts(db: SqlClient, facts: readonly NewFact[]): Promise<ReadonlySet<string>> {
  const events = facts.map((fact) => ({ id: fact.id, orgId: fact.orgId, event: toEvent(fact) }));
  const { rows } = await db.query<{ id: string }>(
    `insert into outbox.events (event_id, cause, org_id, event_key, event)
     select id, id, "orgId", "orgId", event
     from rows from (jsonb_to_recordset($1::jsonb) as (id uuid, "orgId" uuid, event json))
       with ordinality as fact (id, "orgId", event, number)
     where exists (select from organisations where organisations.id = "orgId")
     order by number
     on conflict do nothing returning event_id::text as id`,
    [JSON.stringify(events)],
  );
  return new Set(rows.map(({ id }) => id));
}
