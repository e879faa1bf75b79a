import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import type { Page } from './sections.js';

const schema = `
  create table if not exists pages (
    path text primary key,
    title text not null,
    fingerprint text not null,
    author text -- the user who added a note; null for a file
  );
  create table if not exists sections (
    path text not null references pages on delete cascade,
    position int not null,
    heading text not null,
    text text not null,
    words tsvector not null generated always as
      (setweight(to_tsvector('english', heading), 'A') || to_tsvector('english', text)) stored,
    primary key (path, position)
  );
  create index if not exists sections_words on sections using gin (words)`;

/*
 * Sections with all words come first, then those with some: an agent asks whole questions. A query that excludes words
 * is taken as it is. Snippets are made of the few sections that are returned, without their headings.
 */
const search = `
  with input as (select websearch_to_tsquery('english', $1) as strict),
    query as (
      select strict,
        case when strict::text like '%!%' then strict else replace(strict::text, ' & ', ' | ')::tsquery end as loose
      from input
    ),
    found as (
      select path, position, loose, words @@ strict as has_all, ts_rank_cd(words, loose, 1) as rank
      from sections, query where words @@ loose
      order by has_all desc, rank desc, path, position limit $2
    )
  select path, pages.title, sections.heading,
    ts_headline('english', regexp_replace(sections.text, '^ {0,3}#[^\\n]*', ''), found.loose, 'StartSel="", StopSel="", MaxFragments=2, MinWords=15, MaxWords=40') as snippet
  from found join sections using (path, position) join pages using (path)
  order by has_all desc, rank desc, path, position`;

export interface Hit {
  readonly path: string;
  readonly title: string;
  readonly heading: string;
  readonly snippet: string;
}

/** A part of a page's text. */
export interface Excerpt {
  readonly title: string;
  readonly text: string;
  readonly totalCharacters: number;
}

const MAX_NOTES = 1_000;

/** The pages and their sections in PostgreSQL. */
export function createStore(pool: Pool) {
  /** Replaces a page with what it is now: searches see the old one or the new one. */
  async function save(
    path: string,
    { title, sections }: Page,
    { fingerprint, author = null }: { readonly fingerprint: string; readonly author?: string | null },
  ): Promise<void> {
    const client = await pool.connect();
    try {
      await client.query('begin');
      await client.query('delete from pages where path = $1', [path]);
      await client.query('insert into pages values ($1, $2, $3, $4)', [path, title, fingerprint, author]);
      await client.query(
        `insert into sections (path, position, heading, text)
         select $1, position, heading, text
         from unnest($2::text[], $3::text[]) with ordinality as listed (heading, text, position)`,
        [path, sections.map(({ heading }) => heading), sections.map(({ text }) => text)],
      );
      await client.query('commit');
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      throw error;
    } finally {
      client.release();
    }
  }

  return {
    save,

    async createTables(): Promise<void> {
      await pool.query(schema);
    },

    /** Returns the fingerprints of the files by path. */
    async listFingerprints(): Promise<Map<string, string>> {
      const { rows } = await pool.query<{ path: string; fingerprint: string }>(
        'select path, fingerprint from pages where author is null',
      );
      return new Map(rows.map(({ path, fingerprint }) => [path, fingerprint]));
    },

    async removeFiles(paths: readonly string[]): Promise<void> {
      await pool.query('delete from pages where author is null and path = any($1)', [paths]);
    },

    async search(query: string, limit: number): Promise<Hit[]> {
      const { rows } = await pool.query<Hit>(search, [query.replaceAll('\0', ''), limit]);
      return rows;
    },

    async read(path: string, offset: number, length: number): Promise<Excerpt | undefined> {
      const { rows } = await pool.query<Excerpt>(
        `with page as (
           select title, (select coalesce(string_agg(text, E'\\n\\n' order by position), '') from sections where path = $1) as text
           from pages where path = $1
         )
         select title, substr(text, $2::int + 1, $3::int) as text, length(text) as "totalCharacters" from page`,
        [path.replaceAll('\0', ''), offset, length],
      );
      return rows[0];
    },

    /**
     * Adds a note. Its id is made of what it says, so that a call that is repeated adds nothing.
     *
     * @returns its path; undefined when there are too many.
     */
    async addNote(author: string, page: Page): Promise<string | undefined> {
      const { rows } = await pool.query<{ count: number }>(
        'select count(*)::int as count from pages where author is not null',
      );
      if ((rows[0]?.count ?? 0) >= MAX_NOTES) return undefined;
      const id = createHash('sha256')
        .update(JSON.stringify([author, page]))
        .digest('hex')
        .slice(0, 16);
      // No file has such a path.
      const path = `note:${id}`;
      await save(path, page, { fingerprint: id, author });
      return path;
    },
  };
}

export type Store = ReturnType<typeof createStore>;
