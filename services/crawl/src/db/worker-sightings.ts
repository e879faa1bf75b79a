import type { Connector } from '@platform/events';
import type pg from 'pg';

/** Stores that a worker of the organisation has asked for runs of the connectors. */
export const recordSighting = (
  db: pg.Pool,
  {
    orgId,
    connectors,
    at,
  }: { readonly orgId: string; readonly connectors: readonly Connector[]; readonly at: Date },
): Promise<unknown> =>
  db.query({
    name: 'record_sighting',
    text: `insert into worker_sightings (org_id, connector, seen_at)
           select distinct $1::uuid, connector, $3::timestamptz from unnest($2::text[]) as connector order by connector
           on conflict (org_id, connector) do update set seen_at = excluded.seen_at`,
    values: [orgId, connectors, at],
  });
