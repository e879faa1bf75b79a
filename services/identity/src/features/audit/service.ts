import type { UserPrincipal } from '@platform/auth';
import { type Page, type PageQuery, pageWindow, paginationOf } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import { countAuditEntries, findAuditEntries } from './queries.js';
import type { AuditEntry } from './schemas.js';

export interface AuditService {
  /** The organisation's entries, newest first. */
  list(principal: UserPrincipal, query: PageQuery): Promise<Page<AuditEntry>>;
}

export const createAuditService = (prisma: Prisma): AuditService => ({
  async list({ orgId }, query) {
    const total = await countAuditEntries(prisma, orgId);
    const window = pageWindow(query, total);
    const rows = window ? await findAuditEntries(prisma, orgId, window) : [];
    return {
      data: rows.map((row) => ({
        ...row,
        detail: row.detail as Record<string, unknown>,
        createdAt: row.createdAt.toISOString(),
      })),
      pagination: paginationOf(query, total),
    };
  },
});
