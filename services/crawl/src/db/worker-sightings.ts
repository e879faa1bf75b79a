import type { Connector } from '@platform/events';
import type pg from 'pg';

/** What workers that name no instance ask for. */
export const ALL_INSTANCES = '*';

/** What a worker of the organisation has asked for runs of. */
export interface Sighting {
  readonly connector: Connector;
  /** {@link ALL_INSTANCES}, or one, which counts if it has a schedule. */
  readonly instance: string;
}

export const recordSightings = (
  db: pg.Pool,
  { orgId, seen, at }: { readonly orgId: string; readonly seen: readonly Sighting[]; readonly at: Date },
): Promise<unknown> =>
  db.query({
    name: 'record_sightings',
    text: `insert into worker_sightings (org_id, connector, instance, seen_at)
           select distinct $1::uuid, connector, instance, $4::timestamptz
           from unnest($2::text[], $3::text[]) as seen (connector, instance)
           where instance = '${ALL_INSTANCES}' or (connector, instance) in (
             select connector, instance from schedules where org_id = $1)
           order by connector, instance
           on conflict (org_id, connector, instance) do update set seen_at = excluded.seen_at`,
    values: [orgId, seen.map(({ connector }) => connector), seen.map(({ instance }) => instance), at],
  });
