import type {
  AccessChange,
  Completion,
  Deletion,
  Document,
  DocumentLine,
  Sighting,
} from '@platform/crawl-worker/documents';
import { isAccessChange, isCompletion, isDeletion, isSighting } from '@platform/crawl-worker/documents';
import type { Pool, PoolClient } from 'pg';
import { toPrincipals } from './access.js';
import { narrowPages } from './store.js';

/*
 * The documents that connectors have brought. Batches arrive while a crawl runs; the index follows after the sync event
 * of the run. A document that is gone from its source has no text, until the index has dropped it.
 */

/** A connector of the organisation may have several instances. */
export interface Instance {
  readonly connector: string;
  readonly instance: string;
}

export const DEFAULT_INSTANCE = 'default';

/** Returns the path of a document in the index. Those of files are theirs alone, and those of others begin with the connector. */
export function toPagePath({ connector, instance }: Instance, id: string): string {
  if (instance !== DEFAULT_INSTANCE) return `${connector}/${instance}:${id}`;
  return connector === 'files_1' ? id : `${connector}:${id}`;
}

/** A document that has changed since it was indexed. */
export interface ChangedDocument {
  readonly id: string;
  readonly title: string;
  readonly mimeType: string;
  readonly url: string | null;
  /** Who may find it, as {@link toPrincipals} names them. */
  readonly access: readonly string[];
  /** Null: it is gone. */
  readonly text: string | null;
  readonly runId: string | null;
}

const schema = `
  select pg_advisory_xact_lock(hashtext('documents'));
  create table if not exists documents (
    connector text not null,
    instance text not null,
    id text not null,
    title text not null,
    mime_type text not null,
    url text,
    updated_at timestamptz,
    access text[] not null,
    text text, -- null: gone
    run_id text, -- the run that has brought this version
    full_crawl timestamptz not null, -- the full crawl that has seen it last
    is_indexed boolean not null default false,
    primary key (connector, instance, id)
  );
  create index if not exists documents_changed on documents (connector, instance, id) where not is_indexed`;

/** Of documents whose lines name no full crawl: the next one that does not see them drops them. */
const NO_CRAWL = new Date(0);
const DEFAULT_MIME_TYPE = 'text/plain';

/** PostgreSQL cannot store NUL. */
const clean = (text: string): string => text.replaceAll('\0', '');

/** What a batch says about a document at its end. */
type DocumentChange = Document | Deletion | Sighting;

/** Reduces the lines of a batch to the last word about each document: a statement can change a row only once. */
function reduceLines(lines: readonly DocumentLine[]) {
  const changes = new Map<string, DocumentChange>();
  const accessChanges = new Map<string, AccessChange>();
  const completions: Completion[] = [];
  for (const line of lines) {
    if (isCompletion(line)) {
      completions.push(line);
      continue;
    }
    const key = JSON.stringify([line.connector, line.instance, line.id]);
    const before = changes.get(key);
    if (isAccessChange(line)) accessChanges.set(key, line);
    else if (isSighting(line)) {
      // Whatever a batch brings has been seen.
      if (!before) changes.set(key, line);
    } else if (isDeletion(line) || line.access !== 'separate') {
      accessChanges.delete(key);
      changes.set(key, line);
    } else {
      const access = before && 'access' in before ? before.access : line.access;
      changes.set(key, { ...line, access });
    }
  }
  const all = [...changes.values()];
  return {
    documents: all.filter((line): line is Document => !isDeletion(line) && !isSighting(line)),
    accessChanges: [...accessChanges.values()],
    deletions: all.filter(isDeletion),
    sightings: all.filter(isSighting),
    completions,
  };
}

/** A batch that brings a document again, as it was, leaves the index alone. */
const upsert = `
  insert into documents as old
    (connector, instance, id, title, mime_type, url, updated_at, access, text, run_id, full_crawl)
  select new.connector, new.instance, new.id, new.title, new.mime_type, new.url, new.updated_at,
    coalesce(case when new.access is not null then array(select jsonb_array_elements_text(new.access)) end, known.access, '{}'),
    new.text, new.run_id, new.full_crawl
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::jsonb[],
    $9::text[], $10::text[], $11::timestamptz[])
    as new (connector, instance, id, title, mime_type, url, updated_at, access, text, run_id, full_crawl)
    left join documents known on (known.connector, known.instance, known.id) = (new.connector, new.instance, new.id)
  on conflict (connector, instance, id) do update set
    title = excluded.title, mime_type = excluded.mime_type, url = excluded.url, updated_at = excluded.updated_at,
    access = excluded.access, text = excluded.text, full_crawl = greatest(old.full_crawl, excluded.full_crawl),
    run_id = case when (old.title, old.mime_type, old.url, old.access, old.text)
        is distinct from (excluded.title, excluded.mime_type, excluded.url, excluded.access, excluded.text)
      then excluded.run_id else old.run_id end,
    is_indexed = old.is_indexed and (old.title, old.mime_type, old.url, old.access, old.text)
      is not distinct from (excluded.title, excluded.mime_type, excluded.url, excluded.access, excluded.text)`;

async function saveDocuments(client: PoolClient, documents: readonly Document[]): Promise<void> {
  await client.query(upsert, [
    documents.map(({ connector }) => clean(connector)),
    documents.map(({ instance }) => clean(instance)),
    documents.map(({ id }) => clean(id)),
    documents.map(({ title }) => clean(title)),
    documents.map(({ mimeType }) => clean(mimeType ?? DEFAULT_MIME_TYPE)),
    documents.map(({ url }) => (url === undefined ? null : clean(url))),
    documents.map(({ updatedAt }) => updatedAt ?? null),
    documents.map(({ access }) => (access === 'separate' ? null : JSON.stringify(toPrincipals(access)))),
    documents.map(({ text }) => clean(text)),
    documents.map(({ runId }) => (runId === undefined ? null : clean(runId))),
    documents.map(({ fullCrawl }) => fullCrawl ?? NO_CRAWL),
  ]);
  await narrowPagesOf(client, documents);
}

/** Takes people's access to what is indexed away at once. */
async function narrowPagesOf(client: PoolClient, lines: readonly (Document | AccessChange)[]): Promise<void> {
  const pages = lines.flatMap(({ access, ...one }) =>
    access === 'separate' ? [] : { path: clean(toPagePath(one, one.id)), access: toPrincipals(access) },
  );
  if (pages.length > 0) await narrowPages(client, pages);
}

async function changeAccess(client: PoolClient, changes: readonly AccessChange[]): Promise<void> {
  await client.query(
    `update documents set access = new.access, is_indexed = documents.is_indexed and documents.access = new.access
     from (
       select connector, instance, id, array(select jsonb_array_elements_text(access)) as access
       from unnest($1::text[], $2::text[], $3::text[], $4::jsonb[]) as brought (connector, instance, id, access)
     ) new
     where (documents.connector, documents.instance, documents.id) = (new.connector, new.instance, new.id)`,
    [
      changes.map(({ connector }) => clean(connector)),
      changes.map(({ instance }) => clean(instance)),
      changes.map(({ id }) => clean(id)),
      changes.map(({ access }) => JSON.stringify(toPrincipals(access))),
    ],
  );
  await narrowPagesOf(client, changes);
}

async function markGone(client: PoolClient, deletions: readonly Deletion[]): Promise<void> {
  await client.query(
    `update documents set text = null, is_indexed = false, run_id = gone.run_id
     from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as gone (connector, instance, id, run_id)
     where documents.connector = gone.connector and documents.instance = gone.instance and documents.id = gone.id
       and documents.text is not null`,
    [
      deletions.map(({ connector }) => clean(connector)),
      deletions.map(({ instance }) => clean(instance)),
      deletions.map(({ id }) => clean(id)),
      deletions.map(({ runId }) => (runId === undefined ? null : clean(runId))),
    ],
  );
}

async function markSeen(client: PoolClient, sightings: readonly Sighting[]): Promise<void> {
  await client.query(
    `update documents set full_crawl = greatest(documents.full_crawl, seen.full_crawl)
     from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) as seen (connector, instance, id, full_crawl)
     where documents.connector = seen.connector and documents.instance = seen.instance and documents.id = seen.id`,
    [
      sightings.map(({ connector }) => clean(connector)),
      sightings.map(({ instance }) => clean(instance)),
      sightings.map(({ id }) => clean(id)),
      sightings.map(({ fullCrawl }) => fullCrawl),
    ],
  );
}

/** Marks everything that the full crawl has not seen as deleted. */
async function markUnseen(client: PoolClient, completion: Completion): Promise<void> {
  const { connector, instance, fullCrawl, runId } = completion;
  await client.query(
    `update documents set text = null, is_indexed = false, run_id = $4
     where connector = $1 and instance = $2 and full_crawl < $3 and text is not null`,
    [clean(connector), clean(instance), fullCrawl, runId === undefined ? null : clean(runId)],
  );
}

export function createDocuments(pool: Pool) {
  async function inTransaction<T>(use: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    try {
      await client.query('begin');
      const result = await use(client);
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      throw error;
    } finally {
      client.release();
    }
  }

  return {
    async createTable(): Promise<void> {
      await pool.query(schema);
    },

    /** Stores the lines of a batch, all or none of them. Repeating it changes nothing. */
    async store(lines: readonly DocumentLine[]): Promise<void> {
      const { documents, accessChanges, deletions, sightings, completions } = reduceLines(lines);
      await inTransaction(async (client) => {
        if (documents.length > 0) await saveDocuments(client, documents);
        if (accessChanges.length > 0) await changeAccess(client, accessChanges);
        if (deletions.length > 0) await markGone(client, deletions);
        if (sightings.length > 0) await markSeen(client, sightings);
        for (const completion of completions) await markUnseen(client, completion);
      });
    },

    /** Returns the instances with documents that have changed since they were indexed. */
    async listChangedInstances(): Promise<Instance[]> {
      const { rows } = await pool.query<Instance>(
        'select distinct connector, instance from documents where not is_indexed',
      );
      return rows;
    },

    /**
     * Hands up to `limit` changed documents of an instance to `use`, in a transaction of both.
     *
     * @returns whether there may be more.
     */
    indexChanges(
      { connector, instance }: Instance,
      limit: number,
      use: (client: PoolClient, changed: readonly ChangedDocument[]) => Promise<void>,
    ): Promise<boolean> {
      return inTransaction(async (client) => {
        const { rows } = await client.query<ChangedDocument>(
          `select id, title, mime_type as "mimeType", url, access, text, run_id as "runId" from documents
           where connector = $1 and instance = $2 and not is_indexed order by id limit $3 for update`,
          [connector, instance, limit],
        );
        if (rows.length === 0) return false;
        await use(client, rows);
        const key = [connector, instance, rows.map(({ id }) => id)];
        const where = 'where connector = $1 and instance = $2 and id = any($3)';
        await client.query(`delete from documents ${where} and text is null`, key);
        await client.query(`update documents set is_indexed = true ${where}`, key);
        return rows.length === limit;
      });
    },
  };
}

export type Documents = ReturnType<typeof createDocuments>;
