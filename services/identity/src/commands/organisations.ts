import type { Clock } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma, Transaction } from '../prisma.js';
import { platformActor } from '../base/caller/actor.js';
import { insertAuditEntry } from '../audit/record.sql.js';
import type { Passwords } from '../base/passwords.js';
import { assertUncommonPassword } from '../base/common-passwords.js';
import { emailTaken } from '../members/members/errors.js';
import { insertUser } from '../members/members/queries.js';
import { normaliseEmail } from '../members/members/service.js';
import { hasOrganisation, insertOrganisation, lockOrganisations } from '../members/organisation/queries.js';

export interface NewOrganisation {
  readonly name: string;
  readonly adminEmail: string;
  readonly adminPassword: string;
}

export interface OrganisationContext {
  readonly prisma: Prisma;
  readonly passwords: Passwords;
  readonly clock: Clock;
}

async function insertWithAdministrator(
  { clock }: OrganisationContext,
  tx: Transaction,
  { name, adminEmail }: NewOrganisation,
  passwordHash: string,
) {
  const at = new Date(clock());
  const [orgId, adminId] = [uuidv7(), uuidv7()];
  await insertOrganisation(tx, { id: orgId, name, createdAt: at });
  const admin = { id: adminId, orgId, email: normaliseEmail(adminEmail), fullName: 'Administrator' };
  if (!(await insertUser(tx, { ...admin, role: 'admin', passwordHash, createdAt: at }))) throw emailTaken();
  await insertAuditEntry(tx, {
    orgId,
    action: 'organisation.created',
    actor: platformActor,
    subjectId: orgId,
    at,
  });
  return { orgId, adminId };
}

/** @throws AppError 400 for a password that is easily guessed. */
function hashPassword(
  { passwords }: OrganisationContext,
  { name, adminEmail, adminPassword }: NewOrganisation,
): Promise<string> {
  assertUncommonPassword('password', adminPassword, { email: adminEmail, organisation: name });
  return passwords.hash(adminPassword);
}

/** @throws AppError 400 for a password that is easily guessed; 409 when a member of any organisation has the e-mail. */
export async function createOrganisation(
  ctx: OrganisationContext,
  organisation: NewOrganisation,
): Promise<{ orgId: string; adminId: string }> {
  const passwordHash = await hashPassword(ctx, organisation);
  return ctx.prisma.$transaction((tx) => insertWithAdministrator(ctx, tx, organisation, passwordHash));
}

/**
 * Creates the first organisation.
 *
 * @returns whether it did: false when there is one already.
 * @throws AppError 400 for a password that is easily guessed.
 */
export async function bootstrapOrganisation(
  ctx: OrganisationContext,
  organisation: NewOrganisation,
): Promise<boolean> {
  const passwordHash = await hashPassword(ctx, organisation);
  return ctx.prisma.$transaction(async (tx) => {
    await lockOrganisations(tx);
    if (await hasOrganisation(tx)) return false;
    await insertWithAdministrator(ctx, tx, organisation, passwordHash);
    return true;
  });
}

export async function hasNoOrganisation({ prisma }: OrganisationContext): Promise<boolean> {
  return !(await hasOrganisation(prisma));
}
