import { createHash } from 'node:crypto';
import type pg from 'pg';

export interface ArtifactRow {
  readonly payload: Record<string, unknown>;
  readonly consumed_at: Date | null;
  /** The newest generation of refresh tokens of the grant, and when the one before was first used. */
  readonly refresh_generation: number | null;
  readonly refreshed_at: Date | null;
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
      select a.payload, a.consumed_at, g.refresh_generation, g.refreshed_at
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

/*
 * Marks a refresh token as used, and its generation as superseded. Of two that are used at once, the second waits for the
 * first on the row of the grant, and finds the generation superseded in this moment.
 */
const consumeRefresh = `
  with token as (
    update oauth_artifacts set consumed_at = coalesce(consumed_at, $3)
    where model = 'RefreshToken' and id_hash = $1
    returning grant_id
  )
  update oauth_grants g
  set refreshed_at = case when g.refresh_generation <= $2 then $3 else g.refreshed_at end,
      refresh_generation = greatest(g.refresh_generation, $2 + 1)
  from token
  where g.id = token.grant_id and (g.refresh_generation <= $2 or (g.refresh_generation = $2 + 1 and g.refreshed_at > $4))`;

/**
 * @param use.overlapFrom - a generation that was superseded after this time can still be used.
 * @returns false when a newer generation has been used meanwhile.
 */
export async function consumeRefreshToken(
  db: pg.Pool,
  use: {
    readonly idHash: string;
    readonly generation: number;
    readonly at: Date;
    readonly overlapFrom: Date;
  },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'consume_refresh_token',
    text: consumeRefresh,
    values: [use.idHash, use.generation, use.at, use.overlapFrom],
  });
  return rowCount === 1;
}

/** @returns false when there is none: of two that delete it at once, one gets false. */
export async function deleteArtifact(db: pg.Pool, model: string, idHash: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from oauth_artifacts where model = $1 and id_hash = $2', [
    model,
    idHash,
  ]);
  return rowCount === 1;
}
