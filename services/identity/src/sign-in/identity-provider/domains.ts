import { randomBytes } from 'node:crypto';
import type { Prisma, Transaction } from '../../prisma.js';
import type { Caller } from '../../base/caller/actor.js';
import { changeAsAdministrator } from '../../members/organisation/administration.js';
import type { IdentityProviderContext } from './context.js';
import { hasTxtRecord } from './dns.js';
import { readDomain, toRecord } from './domain.js';
import {
  dnsUnavailable,
  domainNotFound,
  domainTaken,
  invalidDomain,
  noAdministratorLeft,
  recordNotFound,
  tooManyDomains,
} from './errors.js';
import { notifyAdministrators } from './notices.js';
import {
  deleteDomain,
  findDomain,
  findDomains,
  insertDomain,
  markVerified,
  type StoredDomain,
} from './queries.js';
import { hasAdministrator } from '../../members/organisation/provider-requirement.queries.js';
import type { IdentityDomain } from './schemas.js';

export const MAX_DOMAINS = 20;

export const toDomain = ({ domain, challenge, verifiedAt }: StoredDomain): IdentityDomain => ({
  domain,
  verifiedAt: verifiedAt?.toISOString() ?? null,
  record: toRecord(domain, challenge),
});

export const createChallenge = (): string => randomBytes(20).toString('hex');

async function requireDomain(db: Prisma | Transaction, orgId: string, text: string): Promise<StoredDomain> {
  const found = await findDomain(db, orgId, readDomain(text) ?? '');
  if (!found) throw domainNotFound();
  return found;
}

/** Adds a domain, which means nothing until it is verified. Adding it again changes nothing. @throws AppError 400; 403; 409. */
export async function addDomain(
  ctx: IdentityProviderContext,
  caller: Caller,
  text: string,
): Promise<IdentityDomain> {
  const { orgId } = caller;
  const domain = readDomain(text);
  if (domain === undefined) throw invalidDomain();
  return changeAsAdministrator(ctx, caller, async ({ tx, at: createdAt, record }) => {
    const domains = await findDomains(tx, orgId);
    const known = domains.find((each) => each.domain === domain);
    if (known) return toDomain(known);
    if (domains.length >= MAX_DOMAINS) throw tooManyDomains(MAX_DOMAINS);
    const added = await insertDomain(tx, { orgId, domain, challenge: createChallenge(), createdAt });
    await record({ action: 'identity_domain.added', subjectId: orgId, detail: { domain } });
    return toDomain(added);
  });
}

/** Looks for the DNS record. @throws AppError 403; 404; 409 DOMAIN_NOT_VERIFIED, DOMAIN_TAKEN; 503. */
export async function verifyDomain(
  ctx: IdentityProviderContext,
  caller: Caller,
  text: string,
): Promise<IdentityDomain> {
  const { orgId } = caller;
  const { domain, challenge, verifiedAt } = await requireDomain(ctx.prisma, orgId, text);
  if (verifiedAt) return toDomain({ domain, challenge, verifiedAt });
  const wanted = toRecord(domain, challenge);
  const isFound = await hasTxtRecord(ctx.resolveTxt, wanted).catch((error: unknown) => {
    throw dnsUnavailable(error);
  });
  if (!isFound) throw recordNotFound(wanted.name);
  const verified = await changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    // The domain was removed and added again meanwhile: the record proves nothing for the new challenge.
    const current = await requireDomain(tx, orgId, domain);
    if (current.challenge !== challenge) throw recordNotFound(wanted.name);
    if (!(await markVerified(tx, { orgId, domain }, { verifiedAt: at, verifiedBy: 'dns' })))
      throw domainTaken();
    if (!(await hasAdministrator(tx, orgId))) throw noAdministratorLeft();
    await record({ action: 'identity_domain.verified', subjectId: orgId, detail: { domain } });
    await notifyAdministrators(ctx, tx, caller, { notice: 'domainVerified', domain }, at);
    return { domain, challenge, verifiedAt: at };
  });
  ctx.outbox.wake();
  return toDomain(verified);
}

/** @throws AppError 403; 404. */
export async function removeDomain(
  ctx: IdentityProviderContext,
  caller: Caller,
  text: string,
): Promise<void> {
  const { orgId } = caller;
  await changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const { domain, verifiedAt } = await requireDomain(tx, orgId, text);
    await deleteDomain(tx, orgId, domain);
    await record({ action: 'identity_domain.removed', subjectId: orgId, detail: { domain } });
    if (!verifiedAt) return;
    await notifyAdministrators(ctx, tx, caller, { notice: 'domainRemoved', domain }, at);
  });
  ctx.outbox.wake();
}
