import type { Connector } from '@platform/events';
import type pg from 'pg';
import type { Act } from '../domain/act.js';
import { auditedInstance, insertAudit, toAudit } from './facts.js';

/** What workers that name no instance ask for. */
export const ALL_INSTANCES = '*';

/** What a worker of the organisation has asked for runs of. */
export interface Sighting {
  readonly connector: Connector;
  /** {@link ALL_INSTANCES}, or one, which counts if it has a schedule. */
  readonly instance: string;
}

/** Stores when workers asked for runs. The audit records the first time. */
export const recordSightings = (
  db: pg.Pool,
  { orgId, seen, act }: { readonly orgId: string; readonly seen: readonly Sighting[]; readonly act: Act },
): Promise<unknown> =>
  db.query({
    name: 'record_sightings',
    text: `with known as (
             select connector, instance from worker_sightings where org_id = $1
           ), seen as (
           insert into worker_sightings (org_id, connector, instance, seen_at)
           select distinct $1::uuid, connector, instance, $4::timestamptz
           from unnest($2::text[], $3::text[]) as seen (connector, instance)
           where instance = '${ALL_INSTANCES}' or (connector, instance) in (
             select connector, instance from schedules where org_id = $1)
           order by connector, instance
           on conflict (org_id, connector, instance) do update set seen_at = excluded.seen_at
           returning org_id, connector, instance
           ), new as (
             select * from seen where (connector, instance) not in (select connector, instance from known)
           )
           ${insertAudit(auditedInstance('new', 'null::uuid'), '$5')}`,
    values: [
      orgId,
      seen.map(({ connector }) => connector),
      seen.map(({ instance }) => instance),
      act.at,
      toAudit('crawl_worker.connected', act),
    ],
  });
