import type { UserPrincipal } from '@platform/auth';
import { DAY_MS } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { insertAuditEntry } from '../../../audit/record.sql.js';
import { type Caller, toActor } from '../../../base/caller/actor.js';
import { changeAsAdministrator } from '../../../members/organisation/administration.js';
import { endServerCredentials } from '../../../members/server-credentials/server-credentials.sql.js';
import { findSmtpConfiguration } from '../../../members/smtp/queries.js';
import type { Prisma, Transaction } from '../../../prisma.js';
import { serverNotFound } from '../errors.js';
import { findServer } from '../queries.js';
import type { ServerContext } from '../service.js';
import { isPerAccount, ownSecretContext } from '../upstream/credentials.js';
import {
  accountNotFound,
  mailNotSetUp,
  notConnected,
  serverMoved,
  serviceNotFound,
  signInNeeded,
} from './errors.js';
import {
  claimUnasked,
  countAskable,
  type CredentialRow,
  findAccountsOf,
  findOwnServers,
  lockAccount,
  lockReached,
  type OwnServerRow,
  replaceCredential,
} from './queries.js';
import {
  ASKED_EVERY_DAYS,
  type AskedMembers,
  type CredentialPage,
  type CredentialQuery,
  MAX_ASKED,
  type OwnServer,
  type StoreBody,
} from './schemas.js';

const toConnection = ({ connectedAt, lastUsedAt, refusedAt }: CredentialRow) => ({
  connectedAt: connectedAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  refusedAt: refusedAt?.toISOString() ?? null,
});

const toOwnServer = ({ id, name, url, connection, ...row }: OwnServerRow): OwnServer => ({
  id,
  name,
  origin: new URL(url).origin,
  credential: { kind: row.credential, hint: row.credentialHint, link: row.credentialLink },
  connection: connection && toConnection(connection),
});

/** @throws AppError 404 for a server that asks the account for none. */
async function requireOwnServer(db: Prisma | Transaction, orgId: string, accountId: string, id: string) {
  const [server] = await findOwnServers(db, { orgId, accountId, id });
  if (!server) throw serviceNotFound();
  return server;
}

async function storeCredential(
  { box }: ServerContext,
  tx: Transaction,
  { id: serverId, url }: Pick<OwnServerRow, 'id' | 'url'>,
  account: { readonly orgId: string; readonly accountId: string },
  { value, origin }: StoreBody,
  connectedAt: Date,
): Promise<CredentialRow> {
  const current = new URL(url).origin;
  if (origin !== undefined && origin !== current) throw serverMoved(current);
  const secretSealed = box.seal(value, ownSecretContext(serverId, account.accountId));
  return replaceCredential(tx, { id: uuidv7(), serverId, ...account, secretSealed, connectedAt });
}

/** Records that an account was connected. */
const recordStored = (tx: Transaction, caller: Caller, server: { id: string; name: string }, at: Date) =>
  insertAuditEntry(tx, {
    orgId: caller.orgId,
    action: 'mcp_credential.stored',
    actor: toActor(caller),
    subjectId: caller.userId,
    detail: { server: server.name, serverId: server.id },
    at,
  });

async function requirePersonal(tx: Transaction, orgId: string, id: string) {
  const server = await findServer(tx, orgId, id);
  if (!server) throw serverNotFound();
  if (server.credential === 'oauth') throw signInNeeded();
  if (server.credential !== 'personal') throw serviceNotFound();
  return server;
}

/** Lists the servers that the caller may use with a credential of their own. */
export async function listOwnServers(
  { prisma }: ServerContext,
  { orgId, userId: accountId }: UserPrincipal,
): Promise<OwnServer[]> {
  return (await findOwnServers(prisma, { orgId, accountId })).map(toOwnServer);
}

/** @throws AppError 404. */
export async function getOwnServer(
  { prisma }: ServerContext,
  { orgId, userId }: UserPrincipal,
  id: string,
): Promise<OwnServer> {
  return toOwnServer(await requireOwnServer(prisma, orgId, userId, id));
}

/** Stores the caller's own credential in place of the one before. @throws AppError 404; 409 SERVER_MOVED. */
export function storeOwnCredential(
  ctx: ServerContext,
  caller: Caller,
  id: string,
  body: StoreBody,
): Promise<OwnServer> {
  const { orgId, userId: accountId } = caller;
  const at = new Date(ctx.clock());
  return ctx.prisma.$transaction(async (tx) => {
    await lockReached(tx, id);
    const server = await requireOwnServer(tx, orgId, accountId, id);
    if (server.credential !== 'personal') throw serviceNotFound();
    if (!(await lockAccount(tx, orgId, accountId, 'member'))) throw serviceNotFound();
    const connection = await storeCredential(ctx, tx, server, { orgId, accountId }, body, at);
    await recordStored(tx, caller, server, at);
    return toOwnServer({ ...server, connection });
  });
}

/**
 * Stores what a sign-in at a server has brought.
 *
 * @returns false when the server is reached in another way by now, or is not for the caller any more.
 */
export function storeSignedInCredential(
  { clock, prisma, box }: ServerContext,
  caller: Caller,
  { id, revision }: { readonly id: string; readonly revision: number },
  grant: string,
): Promise<boolean> {
  const { orgId, userId: accountId } = caller;
  const at = new Date(clock());
  return prisma.$transaction(async (tx) => {
    await lockReached(tx, id);
    const current = await findServer(tx, orgId, id);
    const [server] = await findOwnServers(tx, { orgId, accountId, id });
    if (!server || current?.revision !== revision) return false;
    if (!(await lockAccount(tx, orgId, accountId, 'member'))) return false;
    const secretSealed = box.seal(grant, ownSecretContext(id, accountId));
    // The tokens of a sign-in before are not revoked: many authorization servers end the new ones with them.
    await replaceCredential(tx, {
      id: uuidv7(),
      serverId: id,
      orgId,
      accountId,
      secretSealed,
      connectedAt: at,
    });
    await recordStored(tx, caller, server, at);
    return true;
  });
}

/** Ends the caller's own credential, also at a server that is no longer for the caller. @throws AppError 404. */
export async function removeOwnCredential(
  { clock, prisma }: ServerContext,
  caller: Caller,
  id: string,
): Promise<void> {
  const { userId: accountId } = caller;
  const why = { actor: toActor(caller), at: new Date(clock()) };
  await prisma.$transaction(async (tx) => {
    if ((await endServerCredentials(tx, { serverId: id, accountId }, why)) === 0) throw notConnected();
  });
}

/** Ends the caller's own credentials at all servers. @returns how many there were. */
export async function removeOwnCredentials(
  { clock, prisma }: ServerContext,
  caller: Caller,
): Promise<number> {
  const why = { actor: toActor(caller), at: new Date(clock()) };
  return prisma.$transaction((tx) => endServerCredentials(tx, { accountId: caller.userId }, why));
}

/** Lists who has a credential at a server, for administrators. @throws AppError 404. */
export async function listCredentials(
  { prisma }: ServerContext,
  { orgId }: UserPrincipal,
  id: string,
  { cursor, limit }: CredentialQuery,
): Promise<CredentialPage> {
  if (!(await findServer(prisma, orgId, id))) throw serverNotFound();
  // Fetch one more than requested to learn whether there is another page.
  const rows = await findAccountsOf(prisma, id, cursor, limit + 1);
  const page = rows.slice(0, limit);
  const data = page.map(({ accountId, kind, name, email, ...row }) => ({
    account: { id: accountId, kind, name, email },
    ...toConnection(row),
  }));
  return { data, nextCursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}

/**
 * Mails members who may use the server, and have joined, to connect, unless they are connected, or were asked within
 * `ASKED_EVERY_DAYS`. A request asks `MAX_ASKED` of them, and can be repeated for the others.
 *
 * @throws AppError 404; 503 MAIL_UNAVAILABLE.
 */
export async function askToConnect(ctx: ServerContext, caller: Caller, id: string): Promise<AskedMembers> {
  const { orgId } = caller;
  if (!ctx.outbox.isEnabled) throw mailNotSetUp();
  const counts = await changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const server = await findServer(tx, orgId, id);
    if (!server) throw serverNotFound();
    if (!isPerAccount(server) || !server.isEnabled) throw serviceNotFound();
    if (!(await findSmtpConfiguration(tx, orgId))) throw mailNotSetUp();
    const asked = await claimUnasked(tx, server, {
      at,
      everyMs: ASKED_EVERY_DAYS * DAY_MS,
      limit: MAX_ASKED,
    });
    const by = `${caller.fullName} (${caller.email})`;
    const detail = { notice: 'serviceOffered', name: server.name, by, page: 'services', pageOf: id };
    await ctx.outbox.add(
      tx,
      asked.map((userId) => ({ kind: 'service_notice', to: { userId }, detail, requestId: null }) as const),
      at,
    );
    if (asked.length > 0)
      await record({
        action: 'mcp_credential.asked_for',
        subjectId: id,
        detail: { server: server.name, asked: String(asked.length) },
      });
    return { asked: asked.length, ...(await countAskable(tx, server, at)) };
  });
  ctx.outbox.wake();
  return counts;
}

/** Gives a service account a credential of its own. @throws AppError 404; 409 SERVER_MOVED. */
export async function giveCredential(
  ctx: ServerContext,
  caller: Caller,
  id: string,
  accountId: string,
  body: StoreBody,
): Promise<void> {
  const { orgId } = caller;
  await changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    await lockReached(tx, id);
    const server = await requirePersonal(tx, orgId, id);
    if (!(await lockAccount(tx, orgId, accountId, 'service_account'))) throw accountNotFound();
    await storeCredential(ctx, tx, server, { orgId, accountId }, body, at);
    const detail = { server: server.name, serverId: id };
    await record({ action: 'mcp_credential.stored', subjectId: accountId, detail });
  });
}

/** Ends the credential of any account at a server. @throws AppError 404. */
export function removeCredential(
  ctx: ServerContext,
  caller: Caller,
  id: string,
  accountId: string,
): Promise<void> {
  return changeAsAdministrator(ctx, caller, async ({ tx, at }) => {
    if (!(await findServer(tx, caller.orgId, id))) throw serverNotFound();
    const why = { actor: toActor(caller), at };
    if ((await endServerCredentials(tx, { serverId: id, accountId }, why)) === 0) throw notConnected();
  });
}
