import { createHash } from 'node:crypto';
import type pg from 'pg';

export interface ArtifactRow {
  /** Null for a refresh token whose successor has been used: it is kept to recognise that it is used again. */
  readonly payload: Record<string, unknown> | null;
  readonly consumed_at: Date | null;
  /** The rotations of the newest refresh token of the grant whose predecessor was used. */
  readonly refresh_generation: number | null;
  readonly expires_at: Date;
  /** This and the next three are of the grant; null when it has none. */
  readonly grant_id: string | null;
  readonly client_id: string | null;
  readonly user_id: string | null;
  readonly scopes: string[] | null;
}

/** Artifacts are stored under the SHA-256 of their ids, which are secrets. */
export const hashArtifactId = (id: string): string => createHash('sha256').update(id).digest('base64url');

export interface NewArtifact {
  readonly model: string;
  readonly idHash: string;
  readonly grantId: string | null;
  readonly payload: object;
  readonly expiresAt: Date;
}

export const saveArtifact = (db: pg.Pool, artifact: NewArtifact): Promise<unknown> =>
  db.query({
    name: 'save_oauth_artifact',
    text: `
      insert into oauth_artifacts (model, id_hash, grant_id, payload, expires_at) values ($1, $2, $3, $4, $5)
      on conflict (model, id_hash) do update set payload = excluded.payload, expires_at = excluded.expires_at`,
    values: [artifact.model, artifact.idHash, artifact.grantId, artifact.payload, artifact.expiresAt],
  });

/** @returns false when there is one already: of two that insert it at once, one gets false. */
export async function insertArtifact(db: pg.Pool, artifact: NewArtifact): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into oauth_artifacts (model, id_hash, grant_id, payload, expires_at) values ($1, $2, $3, $4, $5)
     on conflict do nothing`,
    [artifact.model, artifact.idHash, artifact.grantId, artifact.payload, artifact.expiresAt],
  );
  return rowCount === 1;
}

/** Finds an artifact whose grant, if it has one, has not been revoked. */
export async function findArtifact(
  db: pg.Pool,
  model: string,
  idHash: string,
): Promise<ArtifactRow | undefined> {
  const { rows } = await db.query<ArtifactRow>({
    name: 'find_oauth_artifact',
    text: `
      select a.payload, a.consumed_at, g.refresh_generation, a.expires_at, a.grant_id, g.client_id, g.user_id, g.scopes
      from oauth_artifacts a left join oauth_grants g on g.id = a.grant_id
      where a.model = $1 and a.id_hash = $2 and g.revoked_at is null`,
    values: [model, idHash],
  });
  return rows[0];
}

/** Marks an artifact as used; the first time stays. @returns when it was used before, and its grant. */
export async function consumeArtifact(
  db: pg.Pool,
  model: string,
  idHash: string,
  at: Date,
): Promise<{ readonly isFirst: boolean; readonly grantId: string | null } | undefined> {
  const { rows } = await db.query<{ is_first: boolean; grant_id: string | null }>(
    `with artifact as (
       select model, id_hash, grant_id, consumed_at from oauth_artifacts where model = $1 and id_hash = $2 for update
     ), consumed as (
       update oauth_artifacts a set consumed_at = $3 from artifact
       where a.model = artifact.model and a.id_hash = artifact.id_hash and artifact.consumed_at is null
     )
     select consumed_at is null as is_first, grant_id from artifact`,
    [model, idHash, at],
  );
  const [row] = rows;
  return row && { isFirst: row.is_first, grantId: row.grant_id };
}

/** Undoes the use of an artifact. */
export const releaseArtifact = (db: pg.Pool, model: string, idHash: string): Promise<unknown> =>
  db.query('update oauth_artifacts set consumed_at = null where model = $1 and id_hash = $2', [
    model,
    idHash,
  ]);

/* Of two tokens that are used at once, the second waits for the first on the row of the grant. */
const consumeRefresh = `
  with token as (
    update oauth_artifacts set consumed_at = coalesce(consumed_at, $3)
    where model = 'RefreshToken' and id_hash = $1
    returning grant_id, predecessor_hash
  ), superseded as (
    update oauth_artifacts old set payload = null, successor_sealed = null
    from token where old.model = 'RefreshToken' and old.id_hash = token.predecessor_hash
  )
  update oauth_grants g set refresh_generation = greatest(g.refresh_generation, $2 + 1)
  from token
  where g.id = token.grant_id and g.refresh_generation <= $2 + 1`;

/**
 * Marks a refresh token as used.
 *
 * @returns false when its successor has been used meanwhile.
 */
export async function consumeRefreshToken(
  db: pg.Pool,
  use: { readonly idHash: string; readonly rotations: number; readonly at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'consume_refresh_token',
    text: consumeRefresh,
    values: [use.idHash, use.rotations, use.at],
  });
  return rowCount === 1;
}

/**
 * Stores the sealed successor of a refresh token, unless it has one.
 *
 * @param successorHash - the hash of the id of the successor, whose row then names its predecessor.
 * @returns the stored successor; undefined when the token was superseded meanwhile: a new successor would be a second
 *   branch beside the one in use.
 */
export async function saveSuccessor(
  db: pg.Pool,
  idHash: string,
  { sealed, successorHash }: { readonly sealed: string; readonly successorHash: string },
): Promise<string | undefined> {
  const { rows } = await db.query<{ successor_sealed: string }>({
    name: 'save_refresh_successor',
    text: `with successor as (
             update oauth_artifacts set predecessor_hash = $1 where model = 'RefreshToken' and id_hash = $3
           )
           update oauth_artifacts set successor_sealed = coalesce(successor_sealed, $2)
           where model = 'RefreshToken' and id_hash = $1 and payload is not null returning successor_sealed`,
    values: [idHash, sealed, successorHash],
  });
  return rows[0]?.successor_sealed;
}

/** @returns false when there is none: of two that delete it at once, one gets false. */
export async function deleteArtifact(db: pg.Pool, model: string, idHash: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from oauth_artifacts where model = $1 and id_hash = $2', [
    model,
    idHash,
  ]);
  return rowCount === 1;
}
