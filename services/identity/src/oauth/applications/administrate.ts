import type { Clock } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../resources.js';
import type { Caller } from '../../base/caller/actor.js';
import { lockAdministration } from '../../members/organisation/administration.js';
import { applicationNotFound } from './errors.js';
import { type ApplicationRow, findApplication } from './queries.js';

/** Runs a change of an administrator in a transaction. @throws AppError 403 when the caller is none any more. */
export type Administrate = <T>(caller: Caller, run: (tx: Transaction, at: Date) => Promise<T>) => Promise<T>;

export interface ApplicationDeps {
  readonly prisma: Prisma;
  readonly clock: Clock;
}

export const createAdministrate =
  ({ prisma, clock }: ApplicationDeps): Administrate =>
  (caller, run) =>
    prisma.$transaction(async (tx) => {
      await lockAdministration(tx, caller);
      return run(tx, new Date(clock()));
    });

/** @throws AppError 404 when the organisation has no such application. */
export async function requireApplication(
  db: Prisma | Transaction,
  orgId: string,
  clientId: string,
): Promise<ApplicationRow> {
  const found = await findApplication(db, orgId, clientId);
  if (!found) throw applicationNotFound();
  return found;
}
