import type { Bounds } from '@platform/auth';
import type { InteractionResults } from 'oidc-provider';
import { isSessionOpen } from '../../base/open-session.js';
import { Prisma as Sql } from '../../generated/prisma/client.js';
import type { Transaction } from '../../prisma.js';
import { hashArtifactId } from '../provider/artifacts.sql.js';

export interface NewGrant {
  readonly id: string;
  readonly orgId: string;
  readonly userId: string;
  readonly clientId: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  /** Undefined for none. */
  readonly bounds: Bounds | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly lastAddress: string;
}

/**
 * Stores the answer to an interaction. Of two at once, the second waits until the transaction of the first ends.
 *
 * @returns false when the interaction has been answered before, or is gone.
 */
export async function answerInteraction(
  db: Transaction,
  uid: string,
  result: InteractionResults,
  at: Date,
): Promise<boolean> {
  const count = await db.$executeRaw`
    update oauth_artifacts
    set consumed_at = ${at}, payload = payload || jsonb_build_object('result', ${JSON.stringify(result)}::jsonb)
    where model = 'Interaction' and id_hash = ${hashArtifactId(uid)} and consumed_at is null`;
  return count > 0;
}

/** Locks the member against removal until the transaction ends. @returns false when the member was removed. */
export async function lockMember(db: Transaction, id: string): Promise<boolean> {
  const rows = await db.$queryRaw<unknown[]>`
    select 1 from users where id = ${id}::uuid and removed_at is null for share`;
  return rows.length > 0;
}

const open = Sql.raw(isSessionOpen('s', 'o'));

/** Locks the session. @returns when its member authenticated; undefined when it has ended. */
export async function lockSession(
  db: Transaction,
  id: string,
  now: Date,
): Promise<{ readonly createdAt: Date; readonly authenticatedAt: Date | null } | undefined> {
  const rows = await db.$queryRaw<{ createdAt: Date; authenticatedAt: Date | null }[]>`
    select s.created_at as "createdAt", s.authenticated_at as "authenticatedAt"
    from sessions s join organisations o on o.id = s.org_id
    where s.id = ${id}::uuid and ${open} and s.expires_at > ${now} for share of s`;
  return rows[0];
}

/** Stores the row of a client that its document describes. A name that changed is kept as the document has it now. */
export const upsertDocumentClient = (
  db: Transaction,
  client: {
    readonly id: string;
    readonly name: string;
    readonly redirectUris: readonly string[];
    readonly document: object;
    readonly at: Date;
  },
): Promise<unknown> =>
  db.$executeRaw`
    insert into oauth_clients (id, kind, name, redirect_uris, grant_types, scopes, auth_method, document, created_at)
    values (${client.id}, 'document', ${client.name}, ${[...client.redirectUris]}, '{authorization_code,refresh_token}', '{}',
      'none', ${JSON.stringify(client.document)}::jsonb, ${client.at})
    on conflict (id) do update set name = excluded.name, redirect_uris = excluded.redirect_uris, document = excluded.document
      where oauth_clients.kind = 'document'`;

/** Records that a member connects the client, which keeps it from being deleted. @returns false when it has ended. */
export async function recordConnection(db: Transaction, clientId: string, at: Date): Promise<boolean> {
  const count = await db.$executeRaw`
    update oauth_clients set last_used_at = greatest(last_used_at, ${at})
    where id = ${clientId} and disabled_at is null and removed_at is null`;
  return count > 0;
}

export const insertGrant = (db: Transaction, { scopes, bounds, ...grant }: NewGrant): Promise<unknown> =>
  db.oauthGrant.create({
    data: { ...grant, scopes: [...scopes], ...(bounds && { bounds }) },
    select: { id: true },
  });
