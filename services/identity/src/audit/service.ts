import type { UserPrincipal } from '@platform/auth';
import type { AuditEntry } from '@platform/events';
import { pageWindow, toPagination } from '@platform/service-kit';
import type { Prisma } from '../prisma.js';
import {
  type AuditFilter,
  type AuditName,
  type AuditRow,
  countAuditEntries,
  findAuditEntries,
  searchAuditEntries,
  findAuditNames,
} from './queries.js';
import type { AuditPage, AuditQuery } from './schemas.js';
import { readInstant } from '../base/instants.js';

export const toEntry = ({ credentialKind: kind, credentialId: id, ...row }: AuditRow): AuditEntry => ({
  ...row,
  credential: kind === null || id === null ? null : { kind, id },
  detail: row.detail as AuditEntry['detail'],
  changes: row.changes as AuditEntry['changes'],
  createdAt: row.createdAt.toISOString(),
});

const readFilter = ({ subjectId, actorId, action, q, from, to, cursor }: AuditQuery): AuditFilter => ({
  subjectId,
  actorId,
  action,
  q,
  from: readInstant('from', from),
  to: readInstant('to', to),
  beforeId: cursor?.toLowerCase(),
});

/** What of an entry is named, or says a name. */
type Named = Pick<AuditEntry, 'action' | 'actorId' | 'subjectId' | 'credential' | 'detail'>;

/** Returns the name of what an entry of the crawl service is about: only its detail has it. */
function toCrawlName({ action, detail }: Named): AuditName | undefined {
  if (!action.startsWith('crawl_')) return undefined;
  const { connector, instance = 'default', url } = detail as Readonly<Record<string, string | undefined>>;
  if (url !== undefined) return { kind: 'crawl_endpoint', name: url };
  if (connector === undefined) return undefined;
  return { kind: 'crawl', name: instance === 'default' ? connector : `${connector} (${instance})` };
}

const listCrawlNames = (entries: readonly Named[]): Record<string, AuditName> =>
  Object.fromEntries(
    entries.flatMap((entry) => {
      const name = toCrawlName(entry);
      return name && entry.subjectId !== null ? [[entry.subjectId, name]] : [];
    }),
  );

const listIds = ({ actorId, subjectId, credential }: Partial<Named>): string[] =>
  [actorId, subjectId, credential?.id].filter((id) => typeof id === 'string');

/** Names whom and what entries mean, and `others` that are asked for. */
export const findNames = async (
  prisma: Prisma,
  orgId: string,
  entries: readonly Named[],
  others: Pick<AuditQuery, 'actorId' | 'subjectId'> = {},
): Promise<Record<string, AuditName>> => ({
  ...listCrawlNames(entries),
  ...(await findAuditNames(prisma, orgId, [...listIds(others), ...entries.flatMap(listIds)])),
});

interface Found {
  readonly rows: AuditRow[];
  readonly total: number;
  readonly nextCursor: string | null;
  readonly searchedFrom: Date | undefined;
}

async function search(prisma: Prisma, orgId: string, filter: AuditFilter, query: AuditQuery): Promise<Found> {
  const { page, limit, cursor } = query;
  const offset = cursor === undefined ? (page - 1) * limit : 0;
  const { rows, total, searchedFrom } = await searchAuditEntries(prisma, orgId, filter, { offset, limit });
  const hasMore = total > offset + limit;
  const nextCursor = hasMore ? rows.at(-1)?.id : searchedFrom?.id;
  return { rows, total, nextCursor: nextCursor ?? null, searchedFrom: searchedFrom?.at };
}

async function listAll(prisma: Prisma, orgId: string, query: AuditQuery): Promise<Found> {
  const total = await countAuditEntries(prisma, orgId);
  const window = pageWindow(query, total);
  const rows = window ? await findAuditEntries(prisma, orgId, window) : [];
  const hasMore = query.page * query.limit < total;
  return { rows, total, nextCursor: hasMore ? (rows.at(-1)?.id ?? null) : null, searchedFrom: undefined };
}

/** Lists the organisation's entries, newest first. @throws AppError 400 for a time that isn't an instant. */
export async function listAuditEntries(
  prisma: Prisma,
  { orgId }: UserPrincipal,
  query: AuditQuery,
): Promise<AuditPage> {
  const filter = readFilter(query);
  const isSearch = Object.values(filter).some((value) => value !== undefined);
  const found = await (isSearch ? search(prisma, orgId, filter, query) : listAll(prisma, orgId, query));
  const data = found.rows.map(toEntry);
  return {
    data,
    names: await findNames(prisma, orgId, data, query),
    nextCursor: found.nextCursor,
    pagination: toPagination(query, found.total, { isMinimum: found.searchedFrom !== undefined }),
    searchedFrom: found.searchedFrom?.toISOString() ?? null,
  };
}
