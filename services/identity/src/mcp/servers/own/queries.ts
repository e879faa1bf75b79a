import { Prisma } from '../../../generated/prisma/client.js';
import type { Prisma as Client, Transaction } from '../../../prisma.js';
import type { ServerRow } from '../queries.js';

/** Finds which of the accounts, in this order, is an administrator with a credential at the server. */
export async function findListerOf(
  db: Client | Transaction,
  { id, orgId }: Pick<ServerRow, 'id' | 'orgId'>,
  accountIds: readonly string[],
): Promise<string | undefined> {
  const rows = await db.$queryRaw<{ id: string }[]>`
    select u.id::text from unnest(${[...accountIds]}::uuid[]) with ordinality as wanted (id, place)
      join users u on u.id = wanted.id and u.org_id = ${orgId}::uuid and u.role = 'admin' and u.removed_at is null
      join mcp_credentials c on c.server_id = ${id}::uuid and c.account_id = u.id
    order by place limit 1`;
  return rows[0]?.id;
}

/** Locks the server against changes of how it is reached, until the transaction ends. */
export const lockReached = (tx: Transaction, id: string): Promise<unknown> =>
  tx.$queryRaw`select id::text from mcp_servers where id = ${id}::uuid for share`;

/** Locks a member or service account of the organisation against its removal. @returns false when it was removed. */
export async function lockAccount(
  tx: Transaction,
  orgId: string,
  accountId: string,
  kind: 'member' | 'service_account',
): Promise<boolean> {
  const table = Prisma.raw(kind === 'member' ? 'users' : 'service_accounts');
  const rows = await tx.$queryRaw<unknown[]>`
    select 1 from ${table} where id = ${accountId}::uuid and org_id = ${orgId}::uuid and removed_at is null for share`;
  return rows.length > 0;
}

export interface NewCredential {
  readonly id: string;
  readonly serverId: string;
  readonly orgId: string;
  readonly accountId: string;
  readonly secretSealed: string;
  readonly connectedAt: Date;
}

export interface CredentialRow {
  readonly id: string;
  readonly connectedAt: Date;
  readonly lastUsedAt: Date | null;
  readonly refusedAt: Date | null;
}
const shown = { id: true, connectedAt: true, lastUsedAt: true, refusedAt: true } as const;

export interface NewSignIn {
  readonly stateHash: string;
  readonly serverId: string;
  readonly orgId: string;
  readonly accountId: string;
  readonly sessionId: string;
  readonly revision: number;
  readonly flowSealed: string;
  readonly expiresAt: Date;
}

export const insertSignIn = (db: Client, signIn: NewSignIn): Promise<unknown> =>
  db.mcpSignIn.create({ data: signIn, select: { stateHash: true } });

/** Ends the sign-ins of an account at a server from which its browser has not come back. @returns whether there were any. */
export const endOpenSignIns = async (
  db: Client,
  of: Pick<NewSignIn, 'serverId' | 'accountId'>,
): Promise<boolean> => (await db.mcpSignIn.deleteMany({ where: of })).count > 0;

/** Uses a sign-in up that this session has begun; of concurrent calls exactly one succeeds. */
export async function consumeSignIn(
  db: Client,
  of: Pick<NewSignIn, 'stateHash' | 'orgId' | 'accountId' | 'sessionId'>,
  now: Date,
): Promise<Pick<NewSignIn, 'serverId' | 'revision' | 'flowSealed'> | undefined> {
  const [found] = await db.$queryRaw<Pick<NewSignIn, 'serverId' | 'revision' | 'flowSealed'>[]>`
    delete from mcp_sign_ins
    where state_hash = ${of.stateHash} and org_id = ${of.orgId}::uuid and account_id = ${of.accountId}::uuid
      and session_id = ${of.sessionId}::uuid and expires_at > ${now.toISOString()}::timestamptz
    returning server_id::text as "serverId", revision, flow_sealed as "flowSealed"`;
  return found;
}

/** Keeps the client that the platform has registered, unless the server is reached in another way by now. */
export const storeClient = (
  db: Client,
  { id, revision }: Pick<ServerRow, 'id' | 'revision'>,
  secretSealed: string,
): Promise<unknown> =>
  db.mcpServer.updateMany({ where: { id, revision, credential: 'oauth' }, data: { secretSealed } });

/** Forgets the client that the platform has registered, so that the next sign-in registers another one. */
export const forgetClient = (
  db: Client,
  { id, revision }: Pick<ServerRow, 'id' | 'revision'>,
): Promise<unknown> =>
  db.mcpServer.updateMany({
    where: { id, revision, credential: 'oauth', clientId: null },
    data: { secretSealed: null },
  });

/** Finds what is sealed for an account. */
export const findSealedOf = async (
  db: Client | Transaction,
  serverId: string,
  accountId: string,
): Promise<{ readonly secretSealed: string; readonly scopeWanted: string | null } | null> =>
  db.mcpCredential.findUnique({
    where: { serverId_accountId: { serverId, accountId } },
    select: { secretSealed: true, scopeWanted: true },
  });

/** Stores the credential of an account in place of the one before. */
export const replaceCredential = (tx: Transaction, credential: NewCredential): Promise<CredentialRow> => {
  const { serverId, accountId } = credential;
  return tx.mcpCredential.upsert({
    where: { serverId_accountId: { serverId, accountId } },
    create: credential,
    update: { ...credential, lastUsedAt: null, refusedAt: null, scopeWanted: null, renewingUntil: null },
    select: shown,
  });
};

export interface OwnServerRow {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly credential: string;
  readonly credentialHint: string | null;
  readonly credentialLink: string | null;
  readonly connection: CredentialRow | null;
}

/** Finds the servers that an account may use with a credential of its own, by name. @param id - only this server. */
export async function findOwnServers(
  db: Client | Transaction,
  { orgId, accountId, id }: { readonly orgId: string; readonly accountId: string; readonly id?: string },
): Promise<OwnServerRow[]> {
  const groups = await db.$queryRaw<{ id: string }[]>`
    select group_id::text as id from group_members where member_id = ${accountId}::uuid`;
  const rows = await db.mcpServer.findMany({
    where: {
      orgId,
      credential: { in: ['personal', 'oauth'] },
      isEnabled: true,
      ...(id !== undefined && { id }),
      // oxfmt-ignore
      OR: [{ isLimited: false }, { allowedGroups: { hasSome: groups.map((group) => group.id) } }],
    },
    select: {
      id: true,
      name: true,
      url: true,
      credential: true,
      credentialHint: true,
      credentialLink: true,
      credentials: { where: { accountId }, select: shown },
    },
    orderBy: { name: 'asc' },
  });
  return rows.map(({ credentials, ...server }) => ({ ...server, connection: credentials[0] ?? null }));
}

export interface AccountCredentialRow extends CredentialRow {
  readonly accountId: string;
  readonly kind: string;
  readonly name: string;
  readonly email: string | null;
}

/** Finds a page of the accounts with a credential at a server, the newest credential first. @param after - the last id of the page before. */
export const findAccountsOf = (
  db: Client,
  serverId: string,
  after: string | undefined,
  limit: number,
): Promise<AccountCredentialRow[]> => db.$queryRaw`
  select c.id::text, c.account_id::text as "accountId", c.connected_at as "connectedAt", c.last_used_at as "lastUsedAt",
    c.refused_at as "refusedAt", case when u.id is null then 'service_account' else 'member' end as kind,
    coalesce(u.full_name, a.name) as name, u.email
  from mcp_credentials c left join users u on u.id = c.account_id left join service_accounts a on a.id = c.account_id
  where c.server_id = ${serverId}::uuid and (${after ?? null}::uuid is null or c.id < ${after ?? null}::uuid)
  order by c.id desc limit ${limit}`;

/* The members who may use a server and have joined, each with the key that the last request to connect is counted by. */
const members = `
  select u.id, 'ask-to-connect:' || $1::text || ':' || u.id as key,
    exists (select from mcp_credentials c where c.server_id = $1::uuid and c.account_id = u.id) as "isConnected"
  from users u
  where u.org_id = $2::uuid and u.removed_at is null and u.password_hash is not null
    and (not $3::boolean or exists (
      select from group_members g where g.member_id = u.id and g.group_id = any($4::uuid[])))`;

type Askable = Pick<ServerRow, 'id' | 'orgId' | 'isLimited' | 'allowedGroups'>;
const toValues = ({ id, orgId, isLimited, allowedGroups }: Askable) => [id, orgId, isLimited, allowedGroups];

/** Claims members who are to be asked to connect: whoever is not connected, and was not asked for a while. @returns their ids. */
export async function claimUnasked(
  tx: Transaction,
  server: Askable,
  { at, everyMs, limit }: { readonly at: Date; readonly everyMs: number; readonly limit: number },
): Promise<string[]> {
  const rows = await tx.$queryRawUnsafe<{ key: string }[]>(
    `insert into rate_limits as present (key, points, expire)
     select m.key, 1, $5::bigint + $6::bigint from (${members}) m left join rate_limits r on r.key = m.key
     where not m."isConnected" and coalesce(r.expire <= $5::bigint, true) order by m.id limit $7::int
     on conflict (key) do update set points = 1, expire = excluded.expire where present.expire <= $5::bigint
     returning key`,
    ...toValues(server),
    at.getTime(),
    everyMs,
    limit,
  );
  return rows.map(({ key }) => key.slice(key.lastIndexOf(':') + 1));
}

/** Counts the members who may use a server, by what asking them would do. */
export async function countAskable(
  tx: Transaction,
  server: Askable,
  at: Date,
): Promise<{ readonly remaining: number; readonly askedBefore: number; readonly connected: number }> {
  const [counts] = await tx.$queryRawUnsafe<{ remaining: number; askedBefore: number; connected: number }[]>(
    `select count(*) filter (where m."isConnected")::int as connected,
       count(*) filter (where not m."isConnected" and r.expire > $5::bigint)::int as "askedBefore",
       count(*) filter (where not m."isConnected" and coalesce(r.expire <= $5::bigint, true))::int as remaining
     from (${members}) m left join rate_limits r on r.key = m.key`,
    ...toValues(server),
    at.getTime(),
  );
  return counts ?? { remaining: 0, askedBefore: 0, connected: 0 };
}
