import type { Pool, PoolClient } from 'pg';

/*
 * The documents of the connectors. A connector writes while it crawls; the index follows after the sync event of the run.
 * A document that is gone from its source has no content, until the index has dropped it.
 */

export type DocumentFormat = 'markdown' | 'html' | 'text';

/** A document as it is in its source. */
export interface SourceDocument {
  readonly path: string;
  /** Changes with every change of the document. */
  readonly fingerprint: string;
  readonly format: DocumentFormat;
  readonly content: string;
}

/** The crawl in which a document was seen. */
export interface Sighting {
  readonly connector: string;
  readonly runId: string;
  /**
   * Names the full crawl: the one in progress, or the last one. What has an earlier one after a full crawl is gone, so
   * the clocks of the connector and of the platform need not agree.
   */
  readonly fullStartedAt: Date;
}

/** A document that has changed since it was indexed. */
export interface ChangedDocument {
  readonly path: string;
  readonly format: DocumentFormat;
  /** Null: it is gone. */
  readonly content: string | null;
  readonly runId: string;
}

const schema = `
  select pg_advisory_xact_lock(hashtext('documents'));
  create table if not exists documents (
    connector text not null,
    path text not null,
    fingerprint text not null,
    format text not null,
    content text, -- null: gone
    run_id text not null, -- the run that has brought this version
    full_started_at timestamptz not null,
    is_indexed boolean not null default false,
    primary key (connector, path)
  );
  create index if not exists documents_changed on documents (connector, path) where not is_indexed`;

export function createDocuments(pool: Pool) {
  return {
    async createTable(): Promise<void> {
      await pool.query(schema);
    },

    /** Returns the fingerprints of a connector's documents by path. */
    async listFingerprints(connector: string): Promise<Map<string, string>> {
      const { rows } = await pool.query<{ path: string; fingerprint: string }>(
        'select path, fingerprint from documents where connector = $1 and content is not null',
        [connector],
      );
      return new Map(rows.map(({ path, fingerprint }) => [path, fingerprint]));
    },

    /** Returns the connectors with documents that have changed since they were indexed. */
    async listChangedConnectors(): Promise<string[]> {
      const { rows } = await pool.query<{ connector: string }>(
        'select distinct connector from documents where not is_indexed',
      );
      return rows.map(({ connector }) => connector);
    },

    /** Stores new and changed documents. Repeating it changes nothing. */
    async save(
      { connector, runId, fullStartedAt }: Sighting,
      documents: readonly SourceDocument[],
    ): Promise<void> {
      await pool.query(
        `insert into documents (connector, run_id, full_started_at, path, fingerprint, format, content)
         select $1, $2, $3, * from unnest($4::text[], $5::text[], $6::text[], $7::text[])
         on conflict (connector, path) do update set run_id = excluded.run_id, full_started_at = excluded.full_started_at,
           fingerprint = excluded.fingerprint, format = excluded.format, content = excluded.content, is_indexed = false`,
        [
          connector,
          runId,
          fullStartedAt,
          documents.map(({ path }) => path),
          documents.map(({ fingerprint }) => fingerprint),
          documents.map(({ format }) => format),
          // PostgreSQL cannot store NUL.
          documents.map(({ content }) => content.replaceAll('\0', '')),
        ],
      );
    },

    /** Records that a full crawl has seen documents that have not changed. */
    async markSeen({ connector, fullStartedAt }: Sighting, paths: readonly string[]): Promise<void> {
      await pool.query('update documents set full_started_at = $2 where connector = $1 and path = any($3)', [
        connector,
        fullStartedAt,
        paths,
      ]);
    },

    /** Records that documents are gone. */
    async markGone({ connector, runId }: Sighting, paths: readonly string[]): Promise<void> {
      await pool.query(
        'update documents set content = null, is_indexed = false, run_id = $2 where connector = $1 and path = any($3)',
        [connector, runId, paths],
      );
    },

    /** Marks everything that the full crawl has not seen as deleted. */
    async markUnseen({ connector, runId, fullStartedAt }: Sighting): Promise<void> {
      await pool.query(
        `update documents set content = null, is_indexed = false, run_id = $2
         where connector = $1 and full_started_at < $3 and content is not null`,
        [connector, runId, fullStartedAt],
      );
    },

    /**
     * Hands up to `limit` changed documents of a connector to `use`, in a transaction of both.
     *
     * @returns whether there may be more.
     */
    async indexChanges(
      connector: string,
      limit: number,
      use: (client: PoolClient, changed: readonly ChangedDocument[]) => Promise<void>,
    ): Promise<boolean> {
      const client = await pool.connect();
      try {
        await client.query('begin');
        const { rows } = await client.query<ChangedDocument>(
          `select path, format, content, run_id as "runId" from documents
           where connector = $1 and not is_indexed order by path limit $2 for update`,
          [connector, limit],
        );
        if (rows.length > 0) {
          await use(client, rows);
          const paths = rows.map(({ path }) => path);
          await client.query(
            'delete from documents where connector = $1 and path = any($2) and content is null',
            [connector, paths],
          );
          await client.query(
            'update documents set is_indexed = true where connector = $1 and path = any($2)',
            [connector, paths],
          );
        }
        await client.query('commit');
        return rows.length === limit;
      } catch (error) {
        await client.query('rollback').catch(() => undefined);
        throw error;
      } finally {
        client.release();
      }
    },
  };
}

export type Documents = ReturnType<typeof createDocuments>;
