import { toDigest } from '@platform/auth';
import { AppError, tooManyRequests } from '@platform/service-kit';
import type { Transaction } from '../../prisma.js';
import type { Account } from '../../members/members/queries.js';
import { ATTEMPT_WINDOW_MS } from '../../base/rate-limits/attempt-limits.js';
import { incrementCount, toKey } from '../../base/rate-limits/rate-limits.sql.js';
import type { Caller } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { getDomain } from '../identity-provider/domain.js';
import { findProvider, findProviderOfDomain, holdProvider } from '../identity-provider/queries.js';
import type { ClientAddress } from '../../base/caller/client.js';
import { holdSignInSettings } from '../../members/organisation/queries.js';
import { backdateAuthentication } from '../sessions/queries.js';
import type { SignInOutcome } from '../sessions/sign-in-outcome.js';
import { normaliseEmail } from '../../members/members/service.js';
import { beginSignIn } from './begin.js';
import {
  type Claims,
  hasSecondFactor,
  readAuthenticationTime,
  readGroups,
  type StatedGroups,
} from './claims.js';
import { lockProviderGroups, replaceProviderGroups } from '../../groups/provider-groups.js';
import { findProviderGroupsOf, toNameKey } from '../../groups/queries.js';
import { completeConfirmation } from './confirmations.js';
import type { ProviderSignInContext } from './context.js';
import { noProvider, Refused, signInExpired } from './errors.js';
import { type Begun, readClaims } from './exchange.js';
import { admit, Overtaken } from './member.js';
import { type Person, toPerson } from './person.js';
import { consumeSignIn, isUniqueViolation, type StoredSignIn } from './queries.js';

/*
 * A sign-in with an organisation's provider (OpenID Connect Core §3.1, with PKCE):
 *
 *   address ──> provider of its domain ──(browser)──> authorization ──(browser)──> callback ──> first factor passed
 *
 * The data of the callback is stored under the digest of the state, so that any replica can complete it. It counts only in
 * the browser that began it: that one holds a secret in a cookie, from which nonce and PKCE verifier are derived.
 */

/** The sign-ins of one person in fifteen minutes: each opens a session and stays in the audit for long. */
const MAX_SIGN_INS = 100;

/** The number of times that a sign-in is tried when another one changes the same account. */
const TRIES = 3;

/** The person who comes back from the provider; `caller` is the member that the browser is signed in as. */
interface Visitor {
  readonly client: ClientAddress;
  readonly caller: Caller | undefined;
}

/**
 * The result of a sign-in. It has no outcome when it has confirmed a session. `returnTo` is the path that it continues at:
 * undefined when this browser began no such sign-in.
 */
export type CompletedSignIn =
  | { readonly outcome: SignInOutcome | undefined; readonly returnTo: string }
  | { readonly fault: AppError; readonly returnTo: string | undefined; readonly isConfirmation: boolean };

/** Leaves out names that another one has in another case. */
function toDistinct(names: readonly string[]): string[] {
  const byKey = new Map<string, string>();
  for (const name of names) if (!byKey.has(toNameKey(name))) byKey.set(toNameKey(name), name);
  return [...byKey.values()];
}

/** Replaces the member's groups by those that the provider states; keeps them, and says so, where it states none. */
async function takeOverGroups(
  { clock }: ProviderSignInContext,
  tx: Transaction,
  { id: memberId, orgId }: Account,
  stated: StatedGroups,
  client: ClientAddress,
): Promise<void> {
  const at = new Date(clock());
  const actor = { actorId: memberId, credential: null, client };
  const signIn = { orgId, memberId, actor, at };
  const reason =
    typeof stated === 'string' ? stated : await replaceProviderGroups(tx, signIn, toDistinct(stated));
  if (reason === undefined) return;
  // A provider that never states groups takes none away.
  if (reason === 'absent' && (await findProviderGroupsOf(tx, memberId)).length === 0) return;
  await insertAuditEntry(tx, {
    orgId,
    action: 'identity_provider.groups_kept',
    actor,
    subjectId: memberId,
    reason,
    at,
  });
}

/** Signs the person in, in one transaction with everything that it takes to make them a member. */
const signIn = (
  ctx: ProviderSignInContext,
  revision: string,
  orgId: string,
  person: Person,
  claims: Claims,
  client: ClientAddress,
) =>
  ctx.prisma.$transaction(async (tx) => {
    const provider = await holdProvider(tx, orgId);
    if (provider?.revision !== revision) throw signInExpired();
    // Before the audit entries, whose counter a change of these settings locks while it waits for sign-ins.
    await holdSignInSettings(tx, orgId);
    const { groupsClaim } = provider;
    const stated = groupsClaim === null ? undefined : readGroups(claims, groupsClaim);
    if (typeof stated === 'object') await lockProviderGroups(tx, orgId, stated);
    const account = await admit(ctx, tx, provider, person, client, new Date(ctx.clock()));
    if (stated !== undefined) await takeOverGroups(ctx, tx, account, stated, client);
    const secondFactor = hasSecondFactor(claims, provider.secondFactorValues) ? 'provider' : undefined;
    const outcome = await ctx.passFirstFactor(tx, account, client, 'provider', secondFactor);
    // Whoever finds the browser open can sign in again without a password, where the provider still knows the person. A
    // provider that does not say when the person authenticated may not have asked at all.
    const authenticatedAt = readAuthenticationTime(claims) ?? new Date(0);
    if ('session' in outcome)
      await backdateAuthentication(tx, account, outcome.session.accessToken, authenticatedAt);
    return outcome;
  });

/** @throws AppError 429. */
async function countSignIn(
  { prisma, clock }: ProviderSignInContext,
  orgId: string,
  { subject }: Person,
): Promise<void> {
  const key = `provider:person:${toKey(`${orgId} ${subject}`)}`;
  const count = await incrementCount(prisma, key, new Date(clock()), ATTEMPT_WINDOW_MS);
  if (count > MAX_SIGN_INS)
    throw tooManyRequests(ATTEMPT_WINDOW_MS / 1_000, 'Too many sign-ins: try again later');
}

async function signInPatiently(
  ctx: ProviderSignInContext,
  revision: string,
  orgId: string,
  person: Person,
  claims: Claims,
  client: ClientAddress,
): Promise<SignInOutcome> {
  for (let tries = 1; ; tries += 1)
    try {
      return await signIn(ctx, revision, orgId, person, claims, client);
    } catch (error) {
      if (!(error instanceof Overtaken || isUniqueViolation(error)) || tries === TRIES) throw error;
    }
}

/** @returns undefined when the sign-in has confirmed the session of the browser. */
async function completeBegun(
  ctx: ProviderSignInContext,
  stored: StoredSignIn,
  begun: Begun,
  query: string,
  { client, caller }: Visitor,
): Promise<SignInOutcome | undefined> {
  const { orgId, revision, sessionId } = stored;
  const provider = await findProvider(ctx.prisma, orgId);
  if (provider?.revision !== revision) throw signInExpired();
  const claims = await readClaims(ctx, provider, begun, query);
  if (sessionId !== null) {
    await completeConfirmation(ctx, caller, stored, provider, claims);
    return undefined;
  }
  const person = toPerson(provider.issuer, claims);
  await countSignIn(ctx, orgId, person);
  const outcome = await signInPatiently(ctx, revision, orgId, person, claims, client);
  ctx.outbox.wake();
  await ctx.limits.succeed(getDomain(person.email), client);
  return outcome;
}

const recordRefusal = (
  { prisma, clock }: ProviderSignInContext,
  orgId: string,
  { reason, email }: Refused,
  client: ClientAddress,
) =>
  insertAuditEntry(prisma, {
    orgId,
    action: 'identity_provider.refused',
    actor: { actorId: null, credential: null, client },
    subjectId: orgId,
    reason,
    detail: email === undefined ? {} : { email },
    at: new Date(clock()),
  });

/**
 * Begins a sign-in. Neither the answer nor its time depends on whether there is an account.
 *
 * @param browser - the secret that the browser's cookie holds.
 * @returns the address of the provider to which the browser goes.
 * @throws AppError 400 NO_PROVIDER; 429; 503 PROVIDER_UNAVAILABLE.
 */
export async function beginProviderSignIn(
  ctx: ProviderSignInContext,
  typed: string,
  browser: string,
  { returnTo, client }: { readonly returnTo: string; readonly client: ClientAddress },
): Promise<URL> {
  const email = normaliseEmail(typed);
  const domain = getDomain(email);
  await ctx.limits.begin(domain, client);
  const provider = await findProviderOfDomain(ctx.prisma, domain);
  if (!provider) throw noProvider();
  return beginSignIn(ctx, provider, browser, { email, returnTo });
}

/**
 * Completes a sign-in with what the provider of the organisation sent the browser back with. Its faults are 400 SIGN_IN_EXPIRED,
 * SIGN_IN_REFUSED; 403 NOT_ADMITTED; 503.
 */
export async function completeProviderSignIn(
  ctx: ProviderSignInContext,
  orgId: string,
  query: string,
  browser: string,
  visitor: Visitor,
): Promise<CompletedSignIn> {
  const state = new URLSearchParams(query).get('state') ?? '';
  const wanted = { orgId, stateHash: toDigest(state), browserHash: toDigest(browser) };
  const begun = await consumeSignIn(ctx.prisma, wanted, new Date(ctx.clock()));
  try {
    if (!begun || begun.hasExpired) throw signInExpired();
    const outcome = await completeBegun(ctx, begun, { state, browser }, query, visitor);
    return { outcome, returnTo: begun.returnTo };
  } catch (fault) {
    if (!(fault instanceof AppError)) throw fault;
    if (begun && fault instanceof Refused) await recordRefusal(ctx, begun.orgId, fault, visitor.client);
    return { fault, returnTo: begun?.returnTo, isConfirmation: typeof begun?.sessionId === 'string' };
  }
}
