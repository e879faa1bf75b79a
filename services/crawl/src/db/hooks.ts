import { inTransaction } from '@platform/service-kit';
import type pg from 'pg';
import type { Act } from '../domain/act.js';
import type { HookKind } from '../domain/hook.js';
import type { HookKey, InstanceKey } from '../domain/instance-key.js';
import { auditedInstance, insertAudit, toAudit } from './facts.js';
import { instanceValues, isSameInstance, ofInstance } from './runs.js';
import type { Transaction } from './transaction.js';

/* Hooks, through which a source asks for a run of an instance. */

export interface Hook extends InstanceKey {
  readonly id: string;
  readonly kind: HookKind;
  readonly description: string;
  /** The secrets that verify requests, sealed together: the newest first, and the one before it. */
  readonly secretsSealed: string;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly rotatedAt: Date | null;
  readonly lastRungAt: Date | null;
}

const columns = `id, org_id as "orgId", connector, instance, kind, description, secrets_sealed as "secretsSealed",
  created_by as "createdBy", created_at as "createdAt", rotated_at as "rotatedAt", last_rung_at as "lastRungAt"`;

export async function listHooks(db: pg.Pool, key: InstanceKey): Promise<Hook[]> {
  const { rows } = await db.query<Hook>(
    `select ${columns} from hooks where ${ofInstance} order by created_at, id`,
    instanceValues(key),
  );
  return rows;
}

async function findOwnHook(db: Transaction, { hookId, ...key }: HookKey): Promise<Hook | undefined> {
  const { rows } = await db.query<Hook>(`select ${columns} from hooks where ${ofInstance} and id = $4`, [
    ...instanceValues(key),
    hookId,
  ]);
  return rows[0];
}

/** Returns the hook of any organisation: whoever rings it names nothing but its id. */
export async function findHook(db: pg.Pool, id: string): Promise<Hook | undefined> {
  const { rows } = await db.query<Hook>({
    name: 'find_hook',
    text: `select ${columns} from hooks where id = $1`,
    values: [id],
  });
  return rows[0];
}

/** Returns the statement, which changes one hook, with its entry in the audit. */
const audited = (statement: string, audit: string) => `
  with changed as (${statement} returning org_id, id, connector, instance),
  audited as (${insertAudit(auditedInstance('changed', 'id'), audit)}) select from changed`;

/** @returns false when the instance has `max` hooks. */
export async function insertHook(
  db: pg.Pool,
  hook: Omit<Hook, 'rotatedAt' | 'lastRungAt'>,
  max: number,
  act: Act,
): Promise<boolean> {
  const { rowCount } = await db.query(
    audited(
      `insert into hooks (org_id, connector, instance, id, kind, description, secrets_sealed, created_by, created_at)
       select $1::uuid, $2::text, $3::text, $4, $5, $6, $7, $8, $9
       where (select count(*) from hooks where ${ofInstance}) < $10`,
      '$11',
    ),
    [
      ...instanceValues(hook),
      hook.id,
      hook.kind,
      hook.description,
      hook.secretsSealed,
      hook.createdBy,
      hook.createdAt,
      max,
      toAudit('crawl_hook.created', act),
    ],
  );
  return rowCount === 1;
}

/** @param seal - returns the new sealed secrets. @returns the hook as it is then; undefined when there is none. */
export const rotateHookSecrets = (
  pool: pg.Pool,
  key: HookKey,
  act: Act,
  seal: (hook: Hook) => string,
): Promise<Hook | undefined> =>
  inTransaction(pool, async (tx) => {
    await tx.query('select from hooks where id = $1 for update', [key.hookId]);
    const hook = await findOwnHook(tx, key);
    if (!hook) return undefined;
    await tx.query(audited('update hooks set secrets_sealed = $2, rotated_at = $3 where id = $1', '$4'), [
      hook.id,
      seal(hook),
      act.at,
      toAudit('crawl_hook.secret_rotated', act),
    ]);
    return findOwnHook(tx, key);
  });

/** @returns false when there was none. */
export async function deleteHook(db: pg.Pool, { hookId, ...key }: HookKey, act: Act): Promise<boolean> {
  const { rowCount } = await db.query(audited(`delete from hooks where ${ofInstance} and id = $4`, '$5'), [
    ...instanceValues(key),
    hookId,
    toAudit('crawl_hook.removed', act),
  ]);
  return rowCount === 1;
}

const isMinuteOver = `coalesce(h.minute_started_at <= $2::timestamptz - interval '1 minute', true)`;

/*
 * The first ring makes a run due, and the others until then change nothing. A ring that comes while that run is being made
 * waits for the row of the schedule, and asks for the next run: what it announces may be too late for this one. Every
 * statement locks a hook before its schedule.
 */
const ring = `
  with target as (
    select h.id, exists (select from schedules s where ${isSameInstance('s', 'h')}) as is_scheduled from hooks h where h.id = $1
  ), counted as (
    update hooks h set last_rung_at = $2,
      minute_started_at = case when ${isMinuteOver} then $2 else h.minute_started_at end,
      minute_count = case when ${isMinuteOver} then 1 else h.minute_count + 1 end
    from target where h.id = target.id and is_scheduled and (${isMinuteOver} or h.minute_count < $4)
    returning h.org_id, h.connector, h.instance
  ), rung as (
    update schedules s set ring_due_at = $3 from counted
    where ${isSameInstance('s', 'counted')} and s.state <> 'paused' and s.ring_due_at is null
  )
  select h.minute_started_at as "minuteStartedAt", exists (select from counted) as "isCounted"
  from target join hooks h using (id) where is_scheduled`;

/**
 * Asks for a run of the hook's instance, unless its schedule is paused.
 *
 * @param dueAt - when the run is due that this ring, and all others until then, ask for.
 * @returns undefined when the instance has no schedule; `isCounted` is false when the minute had `maxPerMinute` rings.
 */
export async function ringHook(
  db: pg.Pool,
  given: { readonly id: string; readonly at: Date; readonly dueAt: Date; readonly maxPerMinute: number },
): Promise<{ readonly isCounted: boolean; readonly minuteStartedAt: Date | null } | undefined> {
  const { rows } = await db.query<{ isCounted: boolean; minuteStartedAt: Date | null }>({
    name: 'ring_hook',
    text: ring,
    values: [given.id, given.at, given.dueAt, given.maxPerMinute],
  });
  return rows[0];
}
