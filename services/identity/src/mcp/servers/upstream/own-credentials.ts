import type { AccountPrincipal } from '@platform/auth';
import { ServiceFault } from '@platform/clients';
import { type Clock, DAY_MS, dependencyUnavailable } from '@platform/service-kit';
import type pg from 'pg';
import { insertAuditEntry } from '../../../audit/record.sql.js';
import { platformActor } from '../../../base/caller/actor.js';
import { UpstreamFault } from '../../../base/egress/faults.js';
import { incrementCount } from '../../../base/rate-limits/rate-limits.sql.js';
import type { Outbox } from '../../../mails/outbox/outbox.js';
import type { Prisma, Transaction } from '../../../prisma.js';
import { LinkRequired } from '../../endpoint/link-required.js';
import type { UpstreamServer } from './connections.js';
import {
  findUsable,
  recordRefusal,
  recordUse,
  recordWantedScope,
  type UsableCredential,
} from './own-credentials.sql.js';
import { LEASE_MS, type Renewals } from './oauth/renewals.js';
import { ScopeFault } from './oauth/scope-fault.js';

/** A use is recorded once in this time, so that calls don't write. */
const USE_RECORDED_EVERY_MS = 60_000;
const UNAUTHORIZED = 401;
/** The longest wait for a renewal that another process makes, which may have died meanwhile. */
const MAX_WAIT_MS = LEASE_MS + 5_000;
/** Scopes as RFC 6749 writes them, and not too many. */
const SCOPE_FORM = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$(?<=^.{1,1000})/;

type Account = Pick<AccountPrincipal, 'userId' | 'isServiceAccount'>;

function failUnavailable(error: unknown): never {
  throw dependencyUnavailable('database', error);
}

/** The context of the credentials with which accounts call servers as themselves. */
export interface OwnCredentialContext {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly clock: Clock;
  readonly renewals: Renewals;
  readonly outbox: Pick<Outbox, 'isEnabled' | 'add' | 'wake'>;
  /** Where people connect to servers. */
  readonly consoleUrl: string;
}

/** Says what has to be done, and by whom: a service account opens no page. */
function toFault(
  { consoleUrl }: OwnCredentialContext,
  { id, name, credential }: UpstreamServer,
  { isServiceAccount = false }: Account,
  { member, serviceAccount }: Readonly<Record<'member' | 'serviceAccount', string>>,
  cause?: unknown,
): ServiceFault {
  if (!isServiceAccount) {
    const reason = `The server ${name} ${member}; nothing was done.`;
    return new LinkRequired({ service: name, reason, url: `${consoleUrl}/account/services/${id}`, cause });
  }
  const message =
    credential === 'oauth'
      ? `At the server ${name}, people sign in, which a service account cannot; nothing was done. An administrator can mount the server with another credential, too.`
      : `The server ${name} ${serviceAccount}; nothing was done. An administrator can give it one.`;
  return new ServiceFault({ kind: 'refused', service: name, message, cause });
}

const toOwner = ({ id: serverId }: UpstreamServer, accountId: string) => ({ serverId, accountId });

/** Finds the credential, with tokens that still last. @returns `ended` when the account has to sign in again. */
async function findFresh(
  { pool, renewals }: OwnCredentialContext,
  server: UpstreamServer,
  accountId: string,
  rejected?: UsableCredential,
): Promise<{
  readonly isOther: boolean;
  readonly credential?: UsableCredential;
  readonly hasEnded?: boolean;
}> {
  const owner = toOwner(server, accountId);
  const deadlineAt = performance.now() + MAX_WAIT_MS;
  for (;;) {
    const found = await findUsable(pool, server, accountId).catch(failUnavailable);
    const { credential } = found;
    if (!credential || server.credential !== 'oauth') return found;
    if (renewals.hasEnded(owner, credential)) return { ...found, hasEnded: true };
    if (credential.id !== rejected?.id && !renewals.isDue(owner, credential)) return found;
    const renewal = await renewals.renew(owner, credential).catch(failUnavailable);
    const hasLasted = credential.id !== rejected?.id && !renewals.isExpired(owner, credential);
    if (renewal === 'ended') return hasLasted ? found : { ...found, hasEnded: true };
    if (renewal === 'failed') return hasLasted ? found : { isOther: true };
    if (performance.now() > deadlineAt) return { isOther: true };
  }
}

const busy = (name: string): ServiceFault =>
  new ServiceFault({
    kind: 'busy',
    service: name,
    message: `The server ${name} cannot be called with your account at the moment; nothing was done. Try again.`,
  });

/** Mails a member that they have to sign in again. A server that refuses and accepts in turns causes one mail a day. */
async function notifyMember(
  { outbox }: OwnCredentialContext,
  tx: Transaction,
  { id, name }: UpstreamServer,
  userId: string,
  { at, connectedAt }: { readonly at: Date; readonly connectedAt: Date },
): Promise<void> {
  if (!outbox.isEnabled) return;
  const key = `service-refused:${id}:${userId}:${connectedAt.getTime()}`;
  if ((await incrementCount(tx, key, at, DAY_MS)) > 1) return;
  const detail = { notice: 'serviceRefused', name, page: 'services', pageOf: id } as const;
  await outbox.add(tx, { kind: 'service_notice', to: { userId }, detail, requestId: null }, at);
}

async function recordRefused(
  ctx: OwnCredentialContext,
  server: UpstreamServer,
  { userId, isServiceAccount = false }: Account,
  { id }: UsableCredential,
): Promise<void> {
  const { id: serverId, orgId, name } = server;
  const at = new Date(ctx.clock());
  await ctx.prisma
    .$transaction(async (tx) => {
      const connectedAt = await recordRefusal(tx, id, at);
      if (!connectedAt) return;
      const detail = { server: name, serverId };
      // oxfmt-ignore
      await insertAuditEntry(tx, { orgId, action: 'mcp_credential.refused', actor: platformActor, subjectId: userId, detail, at });
      if (!isServiceAccount) await notifyMember(ctx, tx, server, userId, { at, connectedAt });
    })
    .then(() => ctx.outbox.wake())
    // The next call finds it out again.
    .catch(() => undefined);
}

const toRefusal = (
  ctx: OwnCredentialContext,
  server: UpstreamServer,
  account: Account,
  cause?: UpstreamFault,
): ServiceFault =>
  toFault(
    ctx,
    server,
    account,
    {
      member: 'does not accept your account there any more',
      serviceAccount: 'does not accept the credential of this service account any more',
    },
    cause,
  );

/**
 * Finds the credential for a call. It is read for each call, so that a change is in force with the next one.
 *
 * @param rejected - a credential that the server has just answered with 401.
 * @throws ServiceFault without one, or when the server is being changed.
 */
export async function requireOwnCredential(
  ctx: OwnCredentialContext,
  server: UpstreamServer,
  account: Account,
  rejected?: UsableCredential,
): Promise<UsableCredential> {
  const { isOther, credential, hasEnded } = await findFresh(ctx, server, account.userId, rejected);
  if (isOther) throw busy(server.name);
  if (hasEnded && credential) {
    await recordRefused(ctx, server, account, credential);
    throw toRefusal(ctx, server, account);
  }
  if (credential) return credential;
  throw toFault(ctx, server, account, {
    member: 'is used with an account of your own there, which you have not connected yet',
    serviceAccount:
      'is used with a credential of its own for each account, and this service account has none',
  });
}

/**
 * Finds the credential with which an account lists the tools; undefined without one.
 *
 * @throws UpstreamFault when the account has to sign in again, or its tokens cannot be renewed now.
 */
export async function findOwnCredential(
  ctx: OwnCredentialContext,
  server: UpstreamServer,
  accountId: string,
): Promise<UsableCredential | undefined> {
  const { isOther, credential, hasEnded = false } = await findFresh(ctx, server, accountId);
  if (hasEnded) throw new UpstreamFault('unauthorized', UNAUTHORIZED);
  if (isOther) throw new UpstreamFault('unreachable');
  return credential;
}

export async function recordAcceptance(
  { clock, pool }: OwnCredentialContext,
  { id, lastUsedAt, refusedAt }: UsableCredential,
): Promise<void> {
  const now = clock();
  const isRecorded = lastUsedAt !== null && now - lastUsedAt.getTime() < USE_RECORDED_EVERY_MS;
  // The call was made, whether or not this can be recorded.
  if (!isRecorded || refusedAt !== null) await recordUse(pool, id, new Date(now)).catch(() => undefined);
}

/**
 * Whether a call with renewed tokens may be accepted: nothing was done by the one that was refused. A server that has refused
 * renewed ones is not sent others with each call.
 */
export function canRenewCredential(
  { credential: kind }: UpstreamServer,
  { refusedAt }: UsableCredential,
  fault: UpstreamFault,
): boolean {
  return (
    kind === 'oauth' && refusedAt === null && fault.kind === 'unauthorized' && fault.code === UNAUTHORIZED
  );
}

/**
 * Records that a server refuses the credential, or wants more scopes.
 *
 * @returns what has to be done; undefined when the fault is another.
 */
export async function handleRefusal(
  ctx: OwnCredentialContext,
  server: UpstreamServer,
  account: Account,
  credential: UsableCredential,
  fault: UpstreamFault,
): Promise<ServiceFault | undefined> {
  if (fault instanceof ScopeFault && server.credential === 'oauth') {
    const scope = fault.requiredScope ?? '';
    if (SCOPE_FORM.test(scope))
      await recordWantedScope(ctx.pool, credential.id, scope).catch(() => undefined);
    const text = 'asks for more permissions than your account there has given';
    return toFault(ctx, server, account, { member: text, serviceAccount: text }, fault);
  }
  if (fault.kind !== 'unauthorized' || fault.code !== UNAUTHORIZED) return undefined;
  await recordRefused(ctx, server, account, credential);
  return toRefusal(ctx, server, account, fault);
}
