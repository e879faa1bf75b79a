import { Prisma as Sql } from '../../generated/prisma/client.js';
import type { Prisma as Client } from '../../resources.js';
import type { MailState } from '../queue/mail.js';

/** Selects records, newest first. Every field is part of an index, so no other rows are read. */
export interface RecordFilter {
  readonly orgId: string;
  readonly states: readonly MailState[];
  readonly templates: readonly string[];
  /** Ids are UUIDv7s, so a range of ids is a range of times. The upper end is not included. */
  readonly fromId: string;
  readonly beforeId: string;
  /** Matches in upper and lower case. */
  readonly recipient: string | undefined;
  /** Part of the subject or of an address in To or Cc, in any case. */
  readonly q: string | undefined;
}

/** Limits how many matches are counted and can be paged through by number. */
export const MAX_MATCHES = 1_000;
/** Limits the search for a recipient to its newest mails. */
const MAX_MAILS_PER_RECIPIENT = 10_000;

/** Reads one range of the index for each state and template, in the order of ids. */
const byState = ({ orgId, states, templates, fromId, beforeId }: RecordFilter, count: number): Sql.Sql => Sql.sql`
  select page.id
  from unnest(${states}::text[]) wanted_state cross join unnest(${templates}::text[]) wanted_template
  cross join lateral (
    select id from mails
    where org_id = ${orgId}::uuid and state = wanted_state::mail_state and template_type = wanted_template
      and id >= ${fromId}::uuid and id < ${beforeId}::uuid
    order by id desc limit ${count}
  ) page
  order by page.id desc limit ${count}`; // oxfmt-ignore

const byRecipient = (
  { orgId, states, templates, fromId, beforeId, recipient }: RecordFilter,
  count: number,
): Sql.Sql => Sql.sql`
  select mails.id
  from (
    select mail_id from mail_recipients
    where org_id = ${orgId}::uuid and address = lower(${recipient})
      and mail_id >= ${fromId}::uuid and mail_id < ${beforeId}::uuid
    order by mail_id desc limit ${MAX_MAILS_PER_RECIPIENT}
  ) found
  cross join lateral (
    select id from mails
    where id = found.mail_id and org_id = ${orgId}::uuid
      and state::text = any(${states}::text[]) and template_type = any(${templates}::text[])
    -- The offset keeps the planner from reading the whole table instead of these mails.
    offset 0
  ) mails
  order by mails.id desc limit ${count}`;

/** Limits a search for a part of a text to the newest mails of a recipient, or of the other filters. */
const MAX_MAILS_PER_TEXT = 2_000;

const all = (filter: RecordFilter, count: number): Sql.Sql =>
  filter.recipient === undefined ? byState(filter, count) : byRecipient(filter, count);

const byText = (filter: RecordFilter, q: string, count: number): Sql.Sql => Sql.sql`
  select mails.id
  from (${all(filter, MAX_MAILS_PER_TEXT)}) searched
  cross join lateral (
    select id from mails
    where id = searched.id and org_id = ${filter.orgId}::uuid
      and strpos(lower(concat_ws(' ', subject, array_to_string(to_addresses || cc_addresses, ' '))), lower(${q})) > 0
    -- The offset keeps the planner from reading the whole table instead of these mails.
    offset 0
  ) mails
  order by searched.id desc limit ${count}`;

const found = (filter: RecordFilter, count: number): Sql.Sql =>
  filter.q === undefined ? all(filter, count) : byText(filter, filter.q, count);

/** @returns the number of matches, at most {@link MAX_MATCHES}. */
export async function countMatches(db: Client, filter: RecordFilter): Promise<number> {
  const [row] = await db.$queryRaw<[{ count: number }]>`
    select count(*)::int as count from (${found(filter, MAX_MATCHES)}) found`;
  return row.count;
}

/** @returns the ids of one page, newest first. */
export async function findMatchingIds(
  db: Client,
  filter: RecordFilter,
  offset: number,
  count: number,
): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>`
    select id::text from (${found(filter, offset + count)}) found order by found.id desc offset ${offset}`;
  return rows.map(({ id }) => id);
}

export interface FoundIds {
  /** Newest first. */
  readonly ids: string[];
  readonly nextCursor: string | null;
}

/** Finds the matches that come after the cursor. A page of a search for a recipient can be short and yet have a next. */
export async function findIdsBefore(
  db: Client,
  filter: RecordFilter,
  cursor: string,
  limit: number,
): Promise<FoundIds> {
  const rest = { ...filter, beforeId: cursor < filter.beforeId ? cursor : filter.beforeId };
  // One more row shows whether there is a next page.
  const matches = await findMatchingIds(db, rest, 0, limit + 1);
  const ids = matches.slice(0, limit);
  if (matches.length > limit) return { ids, nextCursor: ids.at(-1) ?? null };
  return { ids, nextCursor: await findSearchedTo(db, rest) };
}

/** @returns the oldest mail that a search has looked at; null when it has looked at all of them. */
export async function findSearchedTo(db: Client, filter: RecordFilter): Promise<string | null> {
  const { orgId, fromId, beforeId, recipient, q } = filter;
  if (q !== undefined) {
    const [oldest] = await db.$queryRaw<{ id: string }[]>`
      select id::text from (${all(filter, MAX_MAILS_PER_TEXT)}) searched
      order by searched.id desc offset ${MAX_MAILS_PER_TEXT - 1} limit 1`;
    if (oldest) return oldest.id;
  }
  if (recipient === undefined) return null;
  const [last] = await db.$queryRaw<{ id: string }[]>`
    select mail_id::text as id from mail_recipients
    where org_id = ${orgId}::uuid and address = lower(${recipient})
      and mail_id >= ${fromId}::uuid and mail_id < ${beforeId}::uuid
    order by mail_id desc offset ${MAX_MAILS_PER_RECIPIENT - 1} limit 1`;
  return last?.id ?? null;
}
