import type pg from 'pg';

export interface ArtifactRow {
  readonly payload: Record<string, unknown>;
  readonly consumed_at: Date | null;
}

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
      select a.payload, a.consumed_at
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

export const deleteArtifact = (db: pg.Pool, model: string, idHash: string): Promise<unknown> =>
  db.query('delete from oauth_artifacts where model = $1 and id_hash = $2', [model, idHash]);

export const deleteArtifactsOfGrant = (db: pg.Pool, model: string, grantId: string): Promise<unknown> =>
  db.query('delete from oauth_artifacts where model = $1 and grant_id = $2', [model, grantId]);
