import { createHash } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { EVERYONE } from './access.js';
import type { Page } from './sections.js';

const schema = `
  create table if not exists pages (
    path text primary key,
    title text not null,
    connector text, -- with its instance, and the run that has brought the page; null for a note
    run_id text,
    author text, -- the user who added a note; null for what was crawled
    is_guide boolean not null, -- written for people, such as Markdown; code is not
    access text[] not null -- who may find it, as access.ts names them
  );
  create table if not exists sections (
    path text not null references pages on delete cascade,
    position int not null,
    heading text not null,
    page text not null, -- the words of the page's title and path
    text text not null,
    words tsvector not null generated always as (
      setweight(to_tsvector('english', heading), 'A') || setweight(to_tsvector('english', page), 'B') || to_tsvector('english', text)
    ) stored,
    primary key (path, position)
  );
  create index if not exists sections_words on sections using gin (words);
  create table if not exists feed_position (
    is_only boolean primary key default true check (is_only),
    cursor text not null
  )`;

/*
 * A section is found by some of the words, since an agent asks whole questions; a query that excludes words is taken as it
 * is. The rank is the sum of what the heading, the page's title and the text have of the question, so that a heading that
 * asks the same comes first: the longer the heading or the text, the less a word in it counts. A section with all words
 * counts half as much again, and code a fifth of a guide. How rare a word is counts nothing: the documents of others would
 * show in the order. Snippets are made of the few sections that are returned, without their headings.
 */
const search = `
  with input as (select websearch_to_tsquery('english', $1) as strict),
    query as (
      select strict,
        case when strict::text like '%!%' then strict else replace(strict::text, ' & ', ' | ')::tsquery end as loose
      from input
    ),
    found as (
      select path, position, loose,
        (ts_rank('{0, 0, 0, 1}', ts_filter(words, '{a}'), loose, 2)
          + ts_rank('{0, 0, 0.5, 0}', ts_filter(words, '{b}'), loose, 1)
          + ts_rank('{0.1, 0, 0, 0}', words, loose, 1))
          * case when words @@ strict then 1.5 else 1 end * case when is_guide then 1 else 0.2 end as rank
      from sections join pages using (path), query where words @@ loose and access && $3
      order by rank desc, path, position limit $2
    )
  select path, pages.title, sections.heading, pages.connector, pages.run_id as "runId",
    ts_headline('english', regexp_replace(sections.text, '^ {0,3}#[^\\n]*', ''), found.loose, 'StartSel="", StopSel="", MaxFragments=2, MinWords=15, MaxWords=40') as snippet
  from found join sections using (path, position) join pages using (path)
  order by rank desc, path, position`;

const toWords = (path: string, title: string): string =>
  `${title} ${path.replaceAll(/[^\p{L}\p{N}]+/gu, ' ')}`;

/** Where a page comes from; both are null for a note. */
export interface Origin {
  readonly connector: string | null;
  readonly runId: string | null;
}

export interface Hit extends Origin {
  readonly path: string;
  readonly title: string;
  readonly heading: string;
  readonly snippet: string;
}

/** A part of a page's text. */
export interface Excerpt extends Origin {
  readonly title: string;
  readonly text: string;
  readonly totalCharacters: number;
}

const MAX_NOTES = 1_000;

/** A page with its path and where it comes from. */
export interface StoredPage extends Origin {
  readonly path: string;
  readonly page: Page;
  readonly author: string | null;
  readonly isGuide: boolean;
  readonly access: readonly string[];
}

/** Removes pages, and adds what they are now. */
// oxfmt-ignore
export async function replacePages(client: PoolClient, paths: readonly string[], pages: readonly StoredPage[]): Promise<void> {
  await client.query('delete from pages where path = any($1)', [paths]);
  await client.query(
    `insert into pages (path, title, connector, run_id, author, is_guide, access)
     select path, title, connector, run_id, author, is_guide, array(select jsonb_array_elements_text(access))
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::jsonb[])
       as new (path, title, connector, run_id, author, is_guide, access)`,
    [pages.map(({ path }) => path), pages.map(({ page }) => page.title), pages.map(({ connector }) => connector), pages.map(({ runId }) => runId), pages.map(({ author }) => author), pages.map(({ isGuide }) => isGuide), pages.map(({ access }) => JSON.stringify(access))],
  );
  const sections = pages.flatMap(({ path, page }) => page.sections.map((section, position) => ({ path, position, words: toWords(path, page.title), ...section })));
  await client.query(
    'insert into sections (path, position, heading, page, text) select * from unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[])',
    [sections.map(({ path }) => path), sections.map(({ position }) => position), sections.map(({ heading }) => heading), sections.map(({ words }) => words), sections.map(({ text }) => text)],
  );
}

/**
 * Takes a page, of which another version was brought, from those who may not find the new version as well. Nobody may find
 * what is only in the other one, and the index follows when the run has completed, if it does.
 */
// oxfmt-ignore
export async function narrowPages(client: PoolClient, pages: readonly { readonly path: string; readonly access: readonly string[] }[]): Promise<void> {
  await client.query(
    `update pages set access = case
         when '${EVERYONE}' = any(new.access) then pages.access
         when '${EVERYONE}' = any(pages.access) then new.access
         else array(select unnest(pages.access) intersect select unnest(new.access)) end
     from (
       select path, array(select jsonb_array_elements_text(access)) as access from unnest($1::text[], $2::jsonb[]) as brought (path, access)
     ) as new
     where pages.path = new.path and pages.access <> new.access`,
    [pages.map(({ path }) => path), pages.map(({ access }) => JSON.stringify(access))],
  );
}

/** The pages and their sections in PostgreSQL. */
export function createStore(pool: Pool) {
  async function saveNote(path: string, author: string, page: Page): Promise<void> {
    const client = await pool.connect();
    try {
      await client.query('begin');
      await replacePages(
        client,
        [path],
        [{ path, page, author, connector: null, runId: null, isGuide: true, access: [EVERYONE] }],
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
    async createTables(): Promise<void> {
      await pool.query(schema);
    },

    async countPages(): Promise<number> {
      const { rows } = await pool.query<{ count: number }>(
        'select count(*)::int as count from pages where author is null',
      );
      return rows[0]?.count ?? 0;
    },

    /** Returns up to where the events were handled. */
    async readCursor(): Promise<string | undefined> {
      const { rows } = await pool.query<{ cursor: string }>('select cursor from feed_position');
      return rows[0]?.cursor;
    },

    async saveCursor(cursor: string): Promise<void> {
      await pool.query(
        'insert into feed_position (cursor) values ($1) on conflict (is_only) do update set cursor = excluded.cursor',
        [cursor],
      );
    },

    /** @param reader - the principals of the caller. */
    async search(reader: readonly string[], query: string, limit: number): Promise<Hit[]> {
      const { rows } = await pool.query<Hit>(search, [query.replaceAll('\0', ''), limit, reader]);
      return rows;
    },

    /** @returns undefined for a page that does not exist, or that is not for the caller. */
    async read(
      reader: readonly string[],
      path: string,
      offset: number,
      length: number,
    ): Promise<Excerpt | undefined> {
      const { rows } = await pool.query<Excerpt>(
        `with page as (
           select title, connector, run_id, (select coalesce(string_agg(text, E'\\n\\n' order by position), '') from sections where path = $1) as text
           from pages where path = $1 and access && $4
         )
         select title, substr(text, $2::int + 1, $3::int) as text, length(text) as "totalCharacters",
           connector, run_id as "runId" from page`,
        [path.replaceAll('\0', ''), offset, length, reader],
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
      const path = `note:${id}`;
      await saveNote(path, author, page);
      return path;
    },
  };
}

export type Store = ReturnType<typeof createStore>;
