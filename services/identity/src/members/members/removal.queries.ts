import { isSessionOpen } from '../../base/open-session.js';
import { Prisma as Sql } from '../../generated/prisma/client.js';
import type { Prisma } from '../../prisma.js';

/** How many of a kind are counted: the rest is as many. */
export const MAX_COUNTED = 1_000;
export const MAX_NAMED = 50;

const open = Sql.raw(isSessionOpen('s', 'o'));

export async function countOpenSessions(db: Prisma, userId: string, now: Date): Promise<number> {
  const rows = await db.$queryRaw<{ count: number }[]>`
    select count(*)::int as count from (
      select from sessions s join organisations o on o.id = s.org_id
      where s.user_id = ${userId}::uuid and ${open} and s.expires_at > ${now} limit ${MAX_COUNTED}
    ) counted`;
  return rows[0]?.count ?? 0;
}

interface Owned {
  readonly tokens: readonly string[];
  readonly apps: readonly string[];
  readonly passkeys: readonly string[];
  /** The MCP servers at which the member has a credential of their own. */
  readonly services: readonly string[];
  /** The events that are sent for the member, each with where it goes. */
  readonly subscriptions: readonly string[];
}

const page = { take: MAX_COUNTED + 1 };

/** Finds the names of what acts for the member, or signs them in: one more than are counted at most. */
export async function findOwned(db: Prisma, userId: string, now: Date): Promise<Owned> {
  const [tokens, grants, passkeys, credentials, subscriptions] = await Promise.all([
    db.personalAccessToken.findMany({
      ...page,
      where: { ownerId: userId, status: 'active', OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] },
      select: { name: true },
      orderBy: { name: 'asc' },
    }),
    db.oauthGrant.findMany({
      ...page,
      where: { userId, revokedAt: null, expiresAt: { gt: now } },
      select: { client: { select: { name: true } } },
      orderBy: { client: { name: 'asc' } },
    }),
    db.passkey.findMany({ ...page, where: { userId }, select: { name: true }, orderBy: { name: 'asc' } }),
    db.mcpCredential.findMany({
      ...page,
      where: { accountId: userId },
      select: { server: { select: { name: true } } },
      orderBy: { server: { name: 'asc' } },
    }),
    db.factDestination.findMany({
      ...page,
      where: { ownerId: userId, form: 'subscription', endsAt: { gt: now } },
      select: { event: true, url: true },
      orderBy: [{ event: 'asc' }, { url: 'asc' }],
    }),
  ]);
  return {
    tokens: tokens.map(({ name }) => name),
    apps: grants.map(({ client }) => client.name),
    passkeys: passkeys.map(({ name }) => name),
    services: credentials.map(({ server }) => server.name),
    // The rest of the URL can be the secret that opens it.
    subscriptions: subscriptions.map(({ event, url }) => `${event} → ${new URL(url).host}`),
  };
}

/** Finds the service accounts that the member has set up, those of applications included: one more than are counted at most. */
export const findAccountsSetUpBy = (db: Prisma, userId: string): Promise<{ id: string; name: string }[]> =>
  db.serviceAccount.findMany({
    ...page,
    where: { createdBy: userId, removedAt: null },
    select: { id: true, name: true },
    orderBy: { name: 'asc' },
  });
