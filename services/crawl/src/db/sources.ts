import type { Db } from './transaction.js';
import type { WorkClaim } from './work.js';

/** What a worker says of the source of an instance. */
export interface Source {
  readonly description: string;
  readonly documents?: number | undefined;
  readonly oldestAt?: string | undefined;
  readonly newestAt?: string | undefined;
}

/** Keeps what the worker of a run says of its source, which the end of each run passes on. */
export const saveSource = (
  db: Db,
  { id, orgId, leaseHashes, connectors }: WorkClaim,
  source: Source,
): Promise<unknown> =>
  db.query({
    name: 'save_source',
    text: `insert into connector_states as c (org_id, connector, instance, source)
           select org_id, connector, instance, $4::jsonb from runs
           where id = $1 and org_id = $2 and coalesce(lease_hash = any($3::bytea[]), false)
             and ($5::text[] is null or connector = any($5))
           on conflict (org_id, connector, instance) do update set source = excluded.source
           where c.source is distinct from excluded.source`,
    values: [id, orgId, leaseHashes, JSON.stringify(source), connectors ?? null],
  });
