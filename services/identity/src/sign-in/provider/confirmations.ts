import { type Caller, toActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { getDomain } from '../identity-provider/domain.js';
import { findLink, findProvider, holdProvider, type StoredProvider } from '../identity-provider/queries.js';
import { setAuthenticated } from '../sessions/confirmed.js';
import { beginSignIn } from './begin.js';
import { type Claims, readAuthenticationTime } from './claims.js';
import type { ProviderSignInContext } from './context.js';
import { noConnection, Refused, signInExpired } from './errors.js';
import type { StoredSignIn } from './queries.js';

/** The time by which the clock of a provider may be slow. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Returns when the person has authenticated, if the provider says that they have done so since then. */
function readFreshAuthentication(claims: Claims, since: Date): Date | undefined {
  const at = readAuthenticationTime(claims);
  return at !== undefined && at.getTime() >= since.getTime() - CLOCK_TOLERANCE_MS ? at : undefined;
}

const getEarlier = (one: Date, other: Date): Date => (one < other ? one : other);

/** @returns the address of the provider. @throws AppError 409 NOT_LINKED; 429; 503. */
export async function beginConfirmation(
  ctx: ProviderSignInContext,
  caller: Caller,
  browser: string,
  returnTo: string,
): Promise<URL> {
  const { orgId, email, credentialId: sessionId, client } = caller;
  await ctx.limits.begin(getDomain(email), client);
  const provider = await findProvider(ctx.prisma, orgId);
  if (!provider || !(await findLink(ctx.prisma, caller))) throw noConnection();
  return beginSignIn(ctx, provider, browser, { email, returnTo, sessionId });
}

/** @throws AppError 400 SIGN_IN_EXPIRED; 403 NOT_ADMITTED. */
export async function completeConfirmation(
  { prisma, clock, limits }: ProviderSignInContext,
  caller: Caller | undefined,
  begun: StoredSignIn,
  { issuer, orgId, revision }: StoredProvider,
  claims: Claims,
): Promise<void> {
  if (!caller || caller.orgId !== orgId || caller.credentialId !== begun.sessionId) throw signInExpired();
  const authenticatedAt = readFreshAuthentication(claims, begun.createdAt);
  if (!authenticatedAt) throw new Refused('not_fresh', caller.email);
  await prisma.$transaction(async (tx) => {
    if ((await holdProvider(tx, orgId))?.revision !== revision) throw signInExpired();
    const link = await findLink(tx, caller);
    if (link?.issuer !== issuer || link.subject !== String(claims['sub']))
      throw new Refused('other_person', caller.email);
    const at = new Date(clock());
    if (!(await setAuthenticated(tx, caller, getEarlier(at, authenticatedAt)))) throw signInExpired();
    await insertAuditEntry(tx, {
      orgId,
      action: 'session.confirmed',
      actor: toActor(caller),
      subjectId: caller.credentialId,
      detail: { method: 'provider' },
      at,
    });
  });
  await limits.succeed(getDomain(caller.email), caller.client);
}
