import { coalesce } from '@platform/auth';
import type pg from 'pg';
import { findOrganisationNames } from './queries.js';

const BATCH_MAX = 500;
const BATCHES_AT_ONCE_MAX = 2;

/** The name of an organisation; the questions of one event-loop turn are one statement. */
export const createFindOrganisationName = (pool: pg.Pool): ((id: string) => Promise<string>) =>
  coalesce<string, string>({
    keyOf: (id) => id,
    async ask(ids) {
      const names = new Map((await findOrganisationNames(pool, ids)).map(({ id, name }) => [id, name]));
      return ids.map((id) => names.get(id) ?? '');
    },
    batchMax: BATCH_MAX,
    inFlightMax: BATCHES_AT_ONCE_MAX,
  });
