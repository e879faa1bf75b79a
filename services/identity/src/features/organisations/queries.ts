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

export const findOrganisation = (db: Prisma, id: string): Promise<{ id: string; name: string } | null> =>
  db.organisation.findUnique({ where: { id }, select: { id: true, name: true } });
