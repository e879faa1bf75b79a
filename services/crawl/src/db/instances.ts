import type { Connector } from '@platform/events';
import type pg from 'pg';
import type { Act } from '../domain/act.js';
import type { InstanceKey } from '../domain/instance-key.js';
import type { ScheduleState } from '../domain/schedule.js';
import { auditedInstance, insertAudit, toAudit } from './facts.js';
import { instanceValues, ofInstance } from './runs.js';

/** The most instances with properties that an organisation has: lists of schedules have no pages. */
const MAX_INSTANCES = 1_000;

/** The name of an instance, and who may manage it besides the administrators. */
export interface InstanceProperties {
  readonly displayName: string;
  readonly ownerId: string | null;
}

/** An instance has properties, a schedule or both. */
export interface InstanceRow extends Pick<InstanceKey, 'connector' | 'instance'> {
  readonly displayName: string | null;
  readonly ownerId: string | null;
  readonly scheduleState: ScheduleState | null;
}

/** Creates the instance or replaces its properties. @returns false when the organisation has too many. */
export async function saveInstance(
  db: pg.Pool,
  key: InstanceKey,
  { displayName, ownerId }: InstanceProperties,
  act: Act | null,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'save_instance',
    text: `with saved as (
           insert into connector_instances as i (org_id, connector, instance, display_name, owner_id)
           select $1::uuid, $2::text, $3::text, $4::text, $5::uuid
           where exists (select from connector_instances where ${ofInstance})
             or (select count(*) from connector_instances where org_id = $1) < ${MAX_INSTANCES}
           on conflict (org_id, connector, instance) do update set
             display_name = excluded.display_name, owner_id = excluded.owner_id
           returning *
           ), audited as (${insertAudit(auditedInstance('saved', 'null::uuid'), '$6')})
           select from saved`,
    values: [...instanceValues(key), displayName, ownerId, toAudit('crawl_instance.saved', act)],
  });
  return rowCount === 1;
}

export async function isInstanceOwner(db: pg.Pool, key: InstanceKey, userId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'is_instance_owner',
    text: `select from connector_instances where ${ofInstance} and owner_id = $4`,
    values: [...instanceValues(key), userId],
  });
  return rowCount === 1;
}

/** Returns whether the instance can have a schedule: `default` always can. */
export async function hasInstance(db: pg.Pool, key: InstanceKey): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'has_instance',
    text: `select from connector_instances where ${ofInstance}`,
    values: instanceValues(key),
  });
  return rowCount === 1;
}

/** Returns instances of the organisation in the order of their names. */
export async function findInstances(
  db: pg.Pool,
  given: {
    readonly orgId: string;
    /** Undefined matches any; so do the next three. */
    readonly connectors?: readonly string[] | undefined;
    readonly connector?: Connector | undefined;
    readonly instance?: string | undefined;
    readonly ownerId?: string | undefined;
    readonly after?: Pick<InstanceKey, 'connector' | 'instance'> | undefined;
    readonly limit: number;
  },
): Promise<InstanceRow[]> {
  const { rows } = await db.query<InstanceRow>({
    name: 'find_instances',
    text: `select connector, instance, i.display_name as "displayName", i.owner_id as "ownerId",
             s.state as "scheduleState"
           from (select * from connector_instances where org_id = $1) i
             full join (select connector, instance, state from schedules where org_id = $1) s using (connector, instance)
           where ($2::text is null or connector = $2) and ($3::text is null or instance = $3)
             and ($4::uuid is null or i.owner_id = $4) and ($5::text is null or (connector, instance) > ($5, $6::text))
             and ($8::text[] is null or connector = any($8))
           order by connector, instance limit $7`,
    values: [
      given.orgId,
      given.connector ?? null,
      given.instance ?? null,
      given.ownerId ?? null,
      given.after?.connector ?? null,
      given.after?.instance ?? null,
      given.limit,
      given.connectors ?? null,
    ],
  });
  return rows;
}
