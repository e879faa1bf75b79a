import { Prisma as Sql } from '../../generated/prisma/client.js';
import type { Prisma as Client } from '../../resources.js';
import type { MailState } from '../journal/entry.js';

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
}

/** Limits how many matches are counted and can be paged through. */
const MAX_MATCHES = 1_000;
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
  order by page.id desc limit ${count}`; // prettier-ignore

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
  ) mails
  order by mails.id desc limit ${count}`;

const found = (filter: RecordFilter, count: number): Sql.Sql =>
  filter.recipient === undefined ? byState(filter, count) : byRecipient(filter, count);

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
