import { type Connector, isConnector } from '@platform/events';
import { type Clock, validationError } from '@platform/service-kit';
import type pg from 'pg';
import type { Actor } from '../../domain/act.js';
import {
  findInstances,
  type InstanceProperties,
  type InstanceRow,
  isInstanceOwner,
  saveInstance,
} from '../../db/instances.js';
import { removeSchedules } from '../../db/schedules.js';
import type { InstanceKey } from '../../domain/instance-key.js';
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

export function createInstanceService({ pool, clock }: { readonly pool: pg.Pool; readonly clock: Clock }) {
  /** @throws AppError 404. */
  async function get(key: InstanceKey): Promise<InstanceRow> {
    const [row] = await findInstances(pool, { ...key, limit: 1 });
    if (!row) throw instanceNotFound();
    return row;
  }
  return {
    isOwner: (key: InstanceKey, userId: string): Promise<boolean> => isInstanceOwner(pool, key, userId),
    get,

    /** Lists instances in the order of their names. @throws AppError 400 for an invalid cursor. */
    async list(given: {
      readonly orgId: string;
      /** Undefined for all. */
      readonly ownerId: string | undefined;
      /** The connectors of which instances are listed; undefined for all. */
      readonly connectors: readonly string[] | undefined;
      readonly connector: Connector | undefined;
      readonly cursor: string | undefined;
      readonly limit: number;
    }): Promise<{ data: InstanceRow[]; nextCursor: string | null }> {
      const { cursor, limit, ...filter } = given;
      const after = cursor === undefined ? undefined : readCursor(cursor);
      const found = await findInstances(pool, { ...filter, after, limit: limit + 1 });
      const data = found.slice(0, limit);
      const last = data.at(-1);
      return { data, nextCursor: found.length > limit && last ? toCursor(last) : null };
    },

    /** Creates an instance or replaces its properties. @throws AppError 409 when there are too many. */
    async save(key: InstanceKey, properties: InstanceProperties, actor: Actor): Promise<InstanceRow> {
      const act = { actor, at: new Date(clock()), detail: { ...properties } };
      if (!(await saveInstance(pool, key, properties, act))) throw tooManyInstances();
      return get(key);
    },

    /** Removes an instance, if there is one, with its schedule. */
    async remove(key: InstanceKey, actor: Actor): Promise<void> {
      const at = new Date(clock());
      await removeSchedules(pool, { ...key, at }, { actor, at }, 'with instances');
    },
  };
}

export type InstanceService = ReturnType<typeof createInstanceService>;
