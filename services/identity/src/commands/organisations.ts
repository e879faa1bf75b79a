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

export function createOrganisationService(deps: {
  readonly prisma: Prisma;
  readonly passwords: Passwords;
  readonly clock: Clock;
}) {
  const { prisma, passwords, clock } = deps;

  async function insert(tx: Transaction, { name, adminEmail }: NewOrganisation, passwordHash: string) {
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
  function hashPassword({ name, adminEmail, adminPassword }: NewOrganisation): Promise<string> {
    assertUncommonPassword('password', adminPassword, { email: adminEmail, organisation: name });
    return passwords.hash(adminPassword);
  }

  return {
    /** @throws AppError 400 for a password that is easily guessed; 409 when a member of any organisation has the e-mail. */
    async create(organisation: NewOrganisation): Promise<{ orgId: string; adminId: string }> {
      const passwordHash = await hashPassword(organisation);
      return prisma.$transaction((tx) => insert(tx, organisation, passwordHash));
    },

    /**
     * Creates the first organisation.
     *
     * @returns whether it did: false when there is one already.
     * @throws AppError 400 for a password that is easily guessed.
     */
    async bootstrap(organisation: NewOrganisation): Promise<boolean> {
      const passwordHash = await hashPassword(organisation);
      return prisma.$transaction(async (tx) => {
        await lockOrganisations(tx);
        if (await hasOrganisation(tx)) return false;
        await insert(tx, organisation, passwordHash);
        return true;
      });
    },
    isEmpty: async (): Promise<boolean> => !(await hasOrganisation(prisma)),
  };
}
