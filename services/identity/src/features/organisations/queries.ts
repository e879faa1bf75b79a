import type pg from 'pg';
import type { Prisma, Transaction } from '../../resources.js';

/** Replicas that start together create the first organisation once. */
export const lockOrganisations = (db: Transaction): Promise<unknown> =>
  db.$executeRaw`lock table organisations in share row exclusive mode`;

export const hasOrganisation = async (db: Prisma | Transaction): Promise<boolean> =>
  (await db.organisation.findFirst({ select: { id: true } })) !== null;

/** @param id - undefined: any, at most `limit` of them. */
export const findOrganisations = (
  db: Transaction,
  id: string | undefined,
  limit: number,
): Promise<{ readonly id: string; readonly name: string }[]> =>
  db.organisation.findMany({
    where: id === undefined ? {} : { id },
    select: { id: true, name: true },
    orderBy: { id: 'asc' },
    take: limit,
  });

/**
 * Makes changes of an organisation's administrators wait for one another, so that the last one
 * can't be removed twice at once. Doesn't hold up inserts that refer to the organisation.
 */
export const lockOrganisation = (db: Transaction, orgId: string): Promise<unknown> =>
  db.$queryRaw`select id::text from organisations where id = ${orgId}::uuid for no key update`;

export const insertOrganisation = (
  db: Transaction,
  organisation: { readonly id: string; readonly name: string; readonly createdAt: Date },
): Promise<unknown> => db.organisation.create({ data: organisation, select: { id: true } });

/** Whether members of the organisation can sign in with mailed codes. */
export const areCodesEnabled = async (db: Prisma | Transaction, id: string): Promise<boolean> =>
  (await db.organisation.findUnique({ where: { id }, select: { codesEnabled: true } }))?.codesEnabled ??
  false;

export const setCodesEnabled = (db: Transaction, id: string, codesEnabled: boolean): Promise<unknown> =>
  db.organisation.update({ where: { id }, data: { codesEnabled }, select: { id: true } });

export async function findOrganisationName(db: pg.Pool, id: string): Promise<string | undefined> {
  const { rows } = await db.query<{ name: string }>({
    name: 'organisation_name',
    text: 'select name from organisations where id = $1',
    values: [id],
  });
  return rows[0]?.name;
}
