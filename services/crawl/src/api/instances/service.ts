import { type Connector, isConnector } from '@platform/events';
import { validationError } from '@platform/service-kit';
import type { Actor } from '../../domain/act.js';
import {
  findInstances,
  type InstanceProperties,
  type InstanceRow,
  saveInstance,
} from '../../db/instances.js';
import { removeSchedules } from '../../db/schedules.js';
import type { InstanceKey } from '../../domain/instance-key.js';
import type { ApiContext } from '../context.js';
import { instanceNotFound, tooManyInstances } from './errors.js';

/*
 * An instance is created by saving its properties; then it can have a schedule. `default` needs none, and is listed once
 * it has properties or a schedule.
 */

type Position = Pick<InstanceKey, 'connector' | 'instance'>;
const toCursor = ({ connector, instance }: Position): string =>
  Buffer.from(`${connector} ${instance}`).toString('base64url');

/** @throws AppError 400. */
function readCursor(cursor: string): Position {
  const [connector = '', instance] = Buffer.from(cursor, 'base64url').toString('latin1').split(' ');
  if (!isConnector(connector) || instance === undefined || instance.includes('\0'))
    throw validationError([{ field: 'cursor', message: 'is not a cursor of this endpoint' }]);
  return { connector, instance };
}

/** @throws AppError 404. */
export async function getInstance({ pool }: ApiContext, key: InstanceKey): Promise<InstanceRow> {
  const [row] = await findInstances(pool, { ...key, limit: 1 });
  if (!row) throw instanceNotFound();
  return row;
}

/** Lists instances in the order of their names. @throws AppError 400 for an invalid cursor. */
export async function listInstances(
  { pool }: ApiContext,
  given: {
    readonly orgId: string;
    /** Undefined for all. */
    readonly ownerId: string | undefined;
    /** The connectors of which instances are listed; undefined for all. */
    readonly connectors: readonly string[] | undefined;
    readonly connector: Connector | undefined;
    readonly cursor: string | undefined;
    readonly limit: number;
  },
): Promise<{ data: InstanceRow[]; nextCursor: string | null }> {
  const { cursor, limit, ...filter } = given;
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const found = await findInstances(pool, { ...filter, after, limit: limit + 1 });
  const data = found.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: found.length > limit && last ? toCursor(last) : null };
}

/** Creates an instance or replaces its properties. @throws AppError 409 when there are too many. */
export async function putInstance(
  ctx: ApiContext,
  key: InstanceKey,
  properties: InstanceProperties,
  actor: Actor,
): Promise<InstanceRow> {
  const { clock, pool } = ctx;
  const act = { actor, at: new Date(clock()), detail: { ...properties } };
  if (!(await saveInstance(pool, key, properties, act))) throw tooManyInstances();
  return getInstance(ctx, key);
}

/** Removes an instance, if there is one, with its schedule. */
export async function removeInstance(
  { clock, pool }: ApiContext,
  key: InstanceKey,
  actor: Actor,
): Promise<void> {
  const at = new Date(clock());
  await removeSchedules(pool, { ...key, at }, { actor, at }, 'with instances');
}
