import { type Egress, parseHttpUrl, TargetDenied } from '@platform/service-kit';
import { findChanges } from '../../audit/changes.js';
import type { Caller } from '../../base/caller/actor.js';
import { type Administration, changeAsAdministrator } from '../../members/organisation/administration.js';
import { hasAdministrator } from '../../members/organisation/provider-requirement.queries.js';
import type { Transaction } from '../../prisma.js';
import type { IdentityProviderContext } from './context.js';
import { toDomain } from './domains.js';
import {
  invalidIssuer,
  issuerDenied,
  noAdministratorLeft,
  openidRequired,
  providerNotFound,
  verifiedDomainRequired,
} from './errors.js';
import { toProviderFault } from './faults.js';
import { notifyAdministrators } from './notices.js';
import { audited, isOther, toAudited, toProvider, toRow } from './provider-fields.js';
import {
  deleteProvider,
  deleteProviderSignIns,
  findDomains,
  findGroupsKept,
  findProvider,
  hasVerifiedDomain,
  lockProvider,
  saveProvider,
} from './queries.js';
import { endProviderSessions } from '../sessions/queries.js';
import type { IdentityProviderResponse, ProviderTest, SaveIdentityProviderBody } from './schemas.js';

/** Checks the URL of a provider. @throws AppError 400. */
function parseIssuer(text: string, egress: Pick<Egress, 'assertUrl'>): URL {
  const url = parseHttpUrl(text);
  if (!url || /\?|\/\.well-known\//.test(url.href)) throw invalidIssuer();
  try {
    egress.assertUrl(url);
  } catch (error) {
    throw error instanceof TargetDenied ? issuerDenied() : error;
  }
  return url;
}

async function endSignIns(tx: Transaction, orgId: string, at: Date): Promise<number> {
  const endedCount = await endProviderSessions(tx, orgId, at);
  await deleteProviderSignIns(tx, { orgId });
  return endedCount;
}

async function saveIn(
  ctx: IdentityProviderContext,
  { tx, at, record }: Administration,
  caller: Caller,
  body: SaveIdentityProviderBody,
) {
  const { orgId } = caller;
  const before = await lockProvider(tx, orgId);
  const row = toRow({ box: ctx.box, at }, orgId, body, before);
  const endedCount = isOther(before, row) ? await endSignIns(tx, orgId, at) : 0;
  await saveProvider(tx, row);
  if (row.isRequired && !(await hasVerifiedDomain(tx, orgId))) throw verifiedDomainRequired();
  if (!(await hasAdministrator(tx, orgId))) throw noAdministratorLeft();
  const changes = findChanges(before ? toAudited(before) : undefined, toAudited(row), audited);
  const clientSecret = before?.clientSecretSealed === row.clientSecretSealed ? 'unchanged' : 'changed';
  await record({
    action: 'identity_provider.saved',
    subjectId: orgId,
    changes,
    detail: { clientSecret, sessionsEnded: String(endedCount) },
  });
  const facts = {
    notice: 'providerSaved',
    issuer: row.issuer,
    isJustInTime: row.isJustInTime ? 'yes' : '',
    isRequired: row.isRequired ? 'yes' : '',
  } as const;
  await notifyAdministrators(ctx, tx, caller, facts, at);
  return { identityProvider: toProvider(row), endedCount };
}

export async function getProviderSettings(
  { prisma, toRedirectUri }: IdentityProviderContext,
  orgId: string,
): Promise<IdentityProviderResponse> {
  const provider = await findProvider(prisma, orgId);
  const domains = (await findDomains(prisma, orgId)).map(toDomain);
  return {
    identityProvider: provider && toProvider(provider),
    domains,
    redirectUri: toRedirectUri(orgId),
    groupsKept: provider && (await findGroupsKept(prisma, orgId, provider.updatedAt)),
  };
}

/**
 * Replaces the settings. With another issuer or client, the members' subjects are other ones: what the earlier provider
 * has proven ends.
 *
 * @returns the settings, and how many sessions were ended.
 * @throws AppError 400; 403 ADMIN_REQUIRED; 409 DOMAIN_REQUIRED, NO_ADMINISTRATOR_LEFT.
 */
export async function saveProviderSettings(
  ctx: IdentityProviderContext,
  caller: Caller,
  body: SaveIdentityProviderBody,
) {
  parseIssuer(body.issuer, ctx.egress);
  if (body.scopes && !body.scopes.includes('openid')) throw openidRequired();
  const saved = await changeAsAdministrator(ctx, caller, (administration) =>
    saveIn(ctx, administration, caller, body),
  );
  ctx.outbox.wake();
  return saved;
}

/** Looks at the provider now. The client's own data is tried by the first sign-in only. @throws AppError 404. */
export async function testProvider(
  { prisma, clients }: IdentityProviderContext,
  orgId: string,
): Promise<ProviderTest> {
  const provider = await findProvider(prisma, orgId);
  if (!provider) throw providerNotFound();
  try {
    const configuration = await clients.discover(provider);
    const { authorization_endpoint: authorizationEndpoint = '' } = configuration.serverMetadata();
    return { isUsable: true, authorizationEndpoint };
  } catch (error) {
    const { kind, status } = toProviderFault(error);
    return { isUsable: false, fault: kind, ...(status !== undefined && { status }) };
  }
}

/** @returns how many sessions were ended. @throws AppError 403; 404. */
export async function removeProvider(ctx: IdentityProviderContext, caller: Caller): Promise<number> {
  const { orgId } = caller;
  const ended = await changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const before = await lockProvider(tx, orgId);
    if (!before) throw providerNotFound();
    const count = await endSignIns(tx, orgId, at);
    await deleteProvider(tx, orgId);
    await record({
      action: 'identity_provider.removed',
      subjectId: orgId,
      changes: findChanges(toAudited(before), undefined, audited),
      detail: { sessionsEnded: String(count) },
    });
    const notice = { notice: 'providerRemoved', issuer: before.issuer } as const;
    await notifyAdministrators(ctx, tx, caller, notice, at);
    return count;
  });
  ctx.outbox.wake();
  return ended;
}
