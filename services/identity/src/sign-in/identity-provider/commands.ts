import { type Clock, conflict, notFound } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../prisma.js';
import { platformActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { findOrganisations } from '../../members/organisation/queries.js';
import { lockOrganisation } from '../../members/organisation/organisation.sql.js';
import { readDomain } from './domain.js';
import { createChallenge, MAX_DOMAINS } from './domains.js';
import { domainTaken, invalidDomain, noAdministratorLeft, tooManyDomains } from './errors.js';
import { notifyByCommand } from './notices.js';
import {
  deleteVerifiedDomain,
  findDomain,
  findDomains,
  findHolder,
  insertDomain,
  markVerified,
} from './queries.js';
import {
  hasAdministrator,
  releaseRequirement,
} from '../../members/organisation/provider-requirement.queries.js';

interface CommandDeps {
  readonly prisma: Prisma;
  readonly clock: Clock;
}

async function lockKnownOrganisation(tx: Transaction, orgId: string): Promise<void> {
  await lockOrganisation(tx, orgId);
  if ((await findOrganisations(tx, orgId, 1)).length === 0)
    throw notFound(`There is no organisation ${orgId}`);
}

/**
 * Verifies a domain for an organisation without its DNS record, for operators whose platform cannot reach the DNS.
 *
 * @throws AppError 400; 404; 409 DOMAIN_TAKEN, TOO_MANY_DOMAINS, NO_ADMINISTRATOR_LEFT.
 */
export async function verifyDomainByCommand(
  { prisma, clock }: CommandDeps,
  orgId: string,
  text: string,
): Promise<void> {
  const domain = readDomain(text);
  if (domain === undefined) throw invalidDomain();
  const at = new Date(clock());
  await prisma.$transaction(async (tx) => {
    await lockKnownOrganisation(tx, orgId);
    const known = await findDomain(tx, orgId, domain);
    if (known?.verifiedAt) return;
    if (!known) {
      if ((await findDomains(tx, orgId)).length >= MAX_DOMAINS) throw tooManyDomains(MAX_DOMAINS);
      await insertDomain(tx, { orgId, domain, challenge: createChallenge(), createdAt: at });
    }
    if (!(await markVerified(tx, { orgId, domain }, { verifiedAt: at, verifiedBy: 'command' })))
      throw domainTaken();
    if (!(await hasAdministrator(tx, orgId))) throw noAdministratorLeft();
    await insertAuditEntry(tx, {
      orgId,
      action: 'identity_domain.verified',
      actor: platformActor,
      subjectId: orgId,
      reason: 'command',
      detail: { domain },
      at,
    });
    await notifyByCommand(tx, orgId, { notice: 'domainVerified', domain }, at);
  });
}

/**
 * Takes a verified domain from the organisation that has it, for operators whom its present owner asks. Nobody can sign in
 * with the provider of that organisation by an address of the domain any more.
 *
 * @param domain - in the form of `readDomain`.
 * @returns the id of the organisation.
 * @throws AppError 404 when no organisation has verified it.
 */
export async function releaseDomainByCommand(
  { prisma, clock }: CommandDeps,
  domain: string,
): Promise<string> {
  const at = new Date(clock());
  return prisma.$transaction(async (tx) => {
    const orgId = await findHolder(tx, domain);
    if (orgId !== undefined) await lockOrganisation(tx, orgId);
    // Its administrators may have removed the domain meanwhile.
    if (orgId === undefined || !(await deleteVerifiedDomain(tx, orgId, domain)))
      throw notFound(`No organisation has verified ${domain}`);
    await insertAuditEntry(tx, {
      orgId,
      action: 'identity_domain.removed',
      actor: platformActor,
      subjectId: orgId,
      reason: 'command',
      detail: { domain },
      at,
    });
    await notifyByCommand(tx, orgId, { notice: 'domainRemoved', domain }, at);
    return orgId;
  });
}

/** Lets the members of an organisation sign in without its provider, when nobody gets in any more. @throws AppError 404; 409. */
export async function liftRequirementByCommand({ prisma, clock }: CommandDeps, orgId: string): Promise<void> {
  const at = new Date(clock());
  await prisma.$transaction(async (tx) => {
    await lockKnownOrganisation(tx, orgId);
    if (!(await releaseRequirement(tx, orgId, at)))
      throw conflict('NOT_REQUIRED', 'The organisation does not require an identity provider');
    await insertAuditEntry(tx, {
      orgId,
      action: 'identity_provider.requirement_lifted',
      actor: platformActor,
      subjectId: orgId,
      reason: 'command',
      at,
    });
    await notifyByCommand(tx, orgId, { notice: 'requirementLifted' }, at);
  });
}
