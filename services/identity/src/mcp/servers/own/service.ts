import type { UserPrincipal } from '@platform/auth';
import type { Clock, SecretBox } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { insertAuditEntry } from '../../../audit/queries.js';
import { type Caller, toActor } from '../../../base/caller/actor.js';
import { changeAsAdministrator } from '../../../members/organisation/administration.js';
import type { Prisma, Transaction } from '../../../resources.js';
import { serverNotFound } from '../errors.js';
import { findServer } from '../queries.js';
import { ownSecretContext } from '../upstream/credentials.js';
import { accountNotFound, notConnected, serverMoved, serviceNotFound } from './errors.js';
import {
  type CredentialRow,
  deleteCredential,
  findAccountsOf,
  findSealedOf,
  findOwnServers,
  lockAccount,
  lockReached,
  type OwnServerRow,
  replaceCredential,
} from './queries.js';
import type { CredentialPage, CredentialQuery, OwnServer, StoreBody } from './schemas.js';

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

/** A credential that was deleted here. */
interface Removed {
  /** Whether it has tokens, which can be revoked where they come from. */
  readonly isSignedIn: boolean;
  readonly secretSealed: string;
}

/** The credentials of members and service accounts at servers: who has one, never what. */
export function createOwnCredentialService(deps: {
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly clock: Clock;
}) {
  const { prisma, box, clock } = deps;

  /** @throws AppError 404 for a server that asks the account for none. */
  async function requireOwnServer(db: Prisma | Transaction, orgId: string, accountId: string, id: string) {
    const [server] = await findOwnServers(db, { orgId, accountId, id });
    if (!server) throw serviceNotFound();
    return server;
  }

  async function store(
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
    if (server.credential !== 'personal') throw serviceNotFound();
    return server;
  }

  return {
    /** Lists the servers that the caller may use with a credential of their own. */
    listOwn: async ({ orgId, userId: accountId }: UserPrincipal): Promise<OwnServer[]> =>
      (await findOwnServers(prisma, { orgId, accountId })).map(toOwnServer),

    /** @throws AppError 404. */
    getOwn: async ({ orgId, userId }: UserPrincipal, id: string): Promise<OwnServer> =>
      toOwnServer(await requireOwnServer(prisma, orgId, userId, id)),

    /** Stores the caller's own credential in place of the one before. @throws AppError 404; 409 SERVER_MOVED. */
    storeOwn(caller: Caller, id: string, body: StoreBody): Promise<OwnServer> {
      const { orgId, userId: accountId } = caller;
      const at = new Date(clock());
      return prisma.$transaction(async (tx) => {
        await lockReached(tx, id);
        const server = await requireOwnServer(tx, orgId, accountId, id);
        if (server.credential !== 'personal') throw serviceNotFound();
        if (!(await lockAccount(tx, orgId, accountId, 'member'))) throw serviceNotFound();
        const connection = await store(tx, server, { orgId, accountId }, body, at);
        await recordStored(tx, caller, server, at);
        return toOwnServer({ ...server, connection });
      });
    },

    /**
     * Stores what a sign-in at a server has brought.
     *
     * @returns false when the server is reached in another way by now, or is not for the caller any more.
     */
    storeSignedIn(
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
    },

    /** Deletes the caller's own credential, also at a server that is no longer for the caller. @throws AppError 404. */
    async removeOwn(caller: Caller, id: string): Promise<Removed> {
      const { orgId, userId: accountId } = caller;
      const at = new Date(clock());
      return prisma.$transaction(async (tx) => {
        const server = await findServer(tx, orgId, id);
        const stored = server && (await findSealedOf(tx, id, accountId));
        if (!stored || !(await deleteCredential(tx, id, accountId))) throw notConnected();
        const detail = { server: server.name, serverId: id };
        // oxfmt-ignore
        await insertAuditEntry(tx, { orgId, action: 'mcp_credential.removed', actor: toActor(caller), subjectId: accountId, detail, at });
        return { isSignedIn: server.credential === 'oauth', secretSealed: stored.secretSealed };
      });
    },

    /** Lists who has a credential at a server, for administrators. @throws AppError 404. */
    async list(
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
    },

    /** Gives a service account a credential of its own. @throws AppError 404; 409 SERVER_MOVED. */
    async give(caller: Caller, id: string, accountId: string, body: StoreBody): Promise<void> {
      const { orgId } = caller;
      await changeAsAdministrator(deps, caller, async ({ tx, at, record }) => {
        await lockReached(tx, id);
        const server = await requirePersonal(tx, orgId, id);
        if (!(await lockAccount(tx, orgId, accountId, 'service_account'))) throw accountNotFound();
        await store(tx, server, { orgId, accountId }, body, at);
        const detail = { server: server.name, serverId: id };
        await record({ action: 'mcp_credential.stored', subjectId: accountId, detail });
      });
    },

    /** Deletes the credential of any account at a server. @throws AppError 404. */
    remove: (caller: Caller, id: string, accountId: string): Promise<Removed> =>
      changeAsAdministrator(deps, caller, async ({ tx, record }) => {
        const server = await findServer(tx, caller.orgId, id);
        if (!server) throw serverNotFound();
        const stored = await findSealedOf(tx, id, accountId);
        if (!stored || !(await deleteCredential(tx, id, accountId))) throw notConnected();
        const detail = { server: server.name, serverId: id };
        await record({ action: 'mcp_credential.removed', subjectId: accountId, detail });
        return { isSignedIn: server.credential === 'oauth', secretSealed: stored.secretSealed };
      }),
  };
}

export type OwnCredentialService = ReturnType<typeof createOwnCredentialService>;
