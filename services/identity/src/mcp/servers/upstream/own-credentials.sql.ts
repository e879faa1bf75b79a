import type pg from 'pg';
import type { SqlClient } from '../../../base/sql-client.js';
import type { ServerRow } from '../queries.js';
import type { OwnCredential } from './credentials.js';

/** The own credential of an account, as a call needs it. */
export interface UsableCredential extends OwnCredential {
  readonly lastUsedAt: Date | null;
  readonly refusedAt: Date | null;
}

type Found = Omit<UsableCredential, 'id'> & { readonly id: string | null; readonly revision: number };

const usable = `
  select s.revision, c.id::text, c.secret_sealed as "secretSealed", c.last_used_at as "lastUsedAt", c.refused_at as "refusedAt"
  from mcp_servers s left join mcp_credentials c on c.server_id = s.id and c.account_id = $3
  where s.id = $1 and s.org_id = $2`;

/**
 * Finds the credential of an account at a server.
 *
 * @returns `isOther` when the server was removed, or is reached in another way than in this revision: the credential may be
 *   meant for another address.
 */
export async function findUsable(
  db: pg.Pool,
  { id, orgId, revision }: Pick<ServerRow, 'id' | 'orgId' | 'revision'>,
  accountId: string,
): Promise<{ readonly isOther: boolean; readonly credential?: UsableCredential }> {
  const { rows } = await db.query<Found>({
    name: 'own_mcp_credential',
    text: usable,
    values: [id, orgId, accountId],
  });
  const [found] = rows;
  if (found?.revision !== revision) return { isOther: true };
  const { id: credentialId, secretSealed, lastUsedAt, refusedAt } = found;
  if (credentialId === null) return { isOther: false };
  return { isOther: false, credential: { id: credentialId, secretSealed, lastUsedAt, refusedAt } };
}

/** Claims the renewal of a credential. @returns what is sealed; undefined while another process renews it, or when it is gone. */
export async function claimRenewal(db: pg.Pool, id: string, leaseMs: number): Promise<string | undefined> {
  const { rows } = await db.query<{ sealed: string }>({
    name: 'claim_mcp_renewal',
    text: `update mcp_credentials set renewing_until = now() + $2 * interval '1 millisecond'
      where id = $1 and (renewing_until is null or renewing_until <= now()) returning secret_sealed as sealed`,
    values: [id, leaseMs],
  });
  return rows[0]?.sealed;
}

/** Ends a renewal that has changed nothing. @returns false when the credential was deleted or replaced meanwhile. */
export const releaseRenewal = async (db: pg.Pool, id: string): Promise<boolean> =>
  (await db.query('update mcp_credentials set renewing_until = null where id = $1', [id])).rowCount === 1;

/** Stores renewed tokens, as another credential, which is as refused as it was until the server accepts it. @returns false when it was deleted or replaced meanwhile. */
export async function storeRenewal(
  db: pg.Pool,
  id: string,
  renewed: { readonly id: string; readonly secretSealed: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'store_mcp_renewal',
    text: `update mcp_credentials set id = $2, secret_sealed = $3, renewing_until = null where id = $1`,
    values: [id, renewed.id, renewed.secretSealed],
  });
  return rowCount === 1;
}

/** Stores what is left of a credential that nothing renews any more. */
export const endCredential = (db: pg.Pool, id: string, secretSealed: string): Promise<unknown> =>
  db.query('update mcp_credentials set secret_sealed = $2 where id = $1', [id, secretSealed]);

/** Records which scopes the server has missed. */
export const recordWantedScope = (db: pg.Pool, id: string, scope: string): Promise<unknown> =>
  db.query('update mcp_credentials set scope_wanted = $2 where id = $1', [id, scope]);

/** Records that a server has accepted the credential. */
export const recordUse = (db: pg.Pool, id: string, at: Date): Promise<unknown> =>
  db.query({
    name: 'use_mcp_credential',
    text: 'update mcp_credentials set last_used_at = $2, refused_at = null where id = $1',
    values: [id, at],
  });

/**
 * Records that a server refuses the credential.
 *
 * @returns since when the account is connected; undefined when the refusal is known, or the credential is gone.
 */
export async function recordRefusal(db: SqlClient, id: string, at: Date): Promise<Date | undefined> {
  const { rows } = await db.query<{ connectedAt: Date }>(
    `update mcp_credentials set refused_at = $2::timestamptz where id = $1::uuid and refused_at is null
     returning connected_at as "connectedAt"`,
    [id, at],
  );
  return rows[0]?.connectedAt;
}
