import type { Connector } from '@platform/events';
import type pg from 'pg';
import type { Act } from '../domain/act.js';
import { auditedInstance, insertAudit, toAudit } from './facts.js';

/** Stands for all instances: the worker named none. */
export const ALL_INSTANCES = '*';

/** The instance that a worker of the organisation has asked for runs of. */
export interface Sighting {
  readonly connector: Connector;
  /** {@link ALL_INSTANCES}, or one, which counts if it has a schedule. */
  readonly instance: string;
}

/** A worker that was not seen for so long counts as a new one when it asks again. */
const FORGOTTEN_AFTER = `interval '90 days'`;

/** Stores when workers asked for runs. The audit records the first time of each credential. */
export const recordSightings = (
  db: pg.Pool,
  {
    orgId,
    workerId,
    seen,
    act,
  }: {
    readonly orgId: string;
    /** What the worker signs in with. */
    readonly workerId: string;
    readonly seen: readonly Sighting[];
    readonly act: Act;
  },
): Promise<unknown> =>
  db.query({
    name: 'record_sightings',
    // A row that was inserted has no earlier version, so `xmax` distinguishes it from an updated one, whoever asks meanwhile.
    text: `with forgotten as materialized (
             select connector, instance from worker_sightings
             where org_id = $1 and credential_id = $6::uuid and seen_at < $4::timestamptz - ${FORGOTTEN_AFTER}
           ), seen as (
           insert into worker_sightings (org_id, connector, instance, credential_id, seen_at)
           select distinct $1::uuid, connector, instance, $6::uuid, $4::timestamptz
           from unnest($2::text[], $3::text[]) as seen (connector, instance)
           where instance = '${ALL_INSTANCES}' or (connector, instance) in (
             select connector, instance from schedules where org_id = $1)
           order by connector, instance
           on conflict (org_id, connector, instance, credential_id) do update set seen_at = excluded.seen_at
           returning org_id, connector, instance,
             xmax = 0 or (connector, instance) in (select connector, instance from forgotten) as is_new
           ), deleted as (
             delete from worker_sightings where org_id = $1 and credential_id <> $6::uuid
               and seen_at < $4::timestamptz - ${FORGOTTEN_AFTER}
           )
           ${insertAudit(auditedInstance('seen where is_new', 'null::uuid'), '$5')}`,
    values: [
      orgId,
      seen.map(({ connector }) => connector),
      seen.map(({ instance }) => instance),
      act.at,
      toAudit('crawl_worker.connected', act),
      workerId,
    ],
  });
