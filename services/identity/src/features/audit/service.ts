import type { UserPrincipal } from '@platform/auth';
import { pageWindow, toPagination, validationError } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import {
  type AuditFilter,
  type AuditRow,
  countAuditEntries,
  findAuditEntries,
  searchAuditEntries,
} from './queries.js';
import type { AuditEntry, AuditPage, AuditQuery } from './schemas.js';

export interface AuditService {
  /** Lists the organisation's entries, newest first. @throws AppError 400 for a time that isn't an instant. */
  list(principal: UserPrincipal, query: AuditQuery): Promise<AuditPage>;
}

const toEntry = ({ credentialKind: kind, credentialId: id, ...row }: AuditRow): AuditEntry => ({
  ...row,
  credential: kind === null || id === null ? null : { kind, id },
  detail: row.detail as AuditEntry['detail'],
  changes: row.changes as AuditEntry['changes'],
  createdAt: row.createdAt.toISOString(),
});

function readInstant(field: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const at = new Date(text);
  // A UUIDv7 holds 48 bits of milliseconds since 1970.
  if (at.getTime() >= 0 && at.getTime() < 2 ** 48) return at;
  throw validationError([{ field, message: 'must be an instant since 1970, such as 2026-01-31T00:00:00Z' }]);
}

const readFilter = ({ subjectId, actorId, action, from, to }: AuditQuery): AuditFilter => ({
  subjectId,
  actorId,
  action,
  from: readInstant('from', from),
  to: readInstant('to', to),
});

export const createAuditService = (prisma: Prisma): AuditService => ({
  async list({ orgId }, query) {
    const filter = readFilter(query);
    if (Object.values(filter).some((value) => value !== undefined)) {
      const { page, limit } = query;
      const found = await searchAuditEntries(prisma, orgId, filter, { offset: (page - 1) * limit, limit });
      return {
        data: found.rows.map(toEntry),
        pagination: toPagination(query, found.total),
        searchedFrom: found.searchedFrom?.toISOString() ?? null,
      };
    }
    const total = await countAuditEntries(prisma, orgId);
    const window = pageWindow(query, total);
    const rows = window ? await findAuditEntries(prisma, orgId, window) : [];
    return { data: rows.map(toEntry), pagination: toPagination(query, total), searchedFrom: null };
  },
});
