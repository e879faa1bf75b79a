import type pg from 'pg';
import type { Prisma, Transaction } from '../../resources.js';

/** Replicas that start together create the first organisation once. */
export const lockOrganisations = (db: Transaction): Promise<unknown> =>
  db.$executeRaw`lock table organisations in share row exclusive mode`;

export const hasOrganisation = async (db: Prisma | Transaction): Promise<boolean> =>
  (await db.organisation.findFirst({ select: { id: true } })) !== null;

export const insertOrganisation = (
  db: Transaction,
  organisation: { readonly id: string; readonly name: string; readonly createdAt: Date },
): Promise<unknown> => db.organisation.create({ data: organisation, select: { id: true } });

/** One statement for all that are asked for at once, prepared under a name on each connection. */
export async function findOrganisationNames(
  db: pg.Pool,
  ids: readonly string[],
): Promise<{ id: string; name: string }[]> {
  const text = 'select id, name from organisations where id = any($1::uuid[])';
  const { rows } = await db.query<{ id: string; name: string }>({
    name: 'organisation_names',
    text,
    values: [ids],
  });
  return rows;
}
