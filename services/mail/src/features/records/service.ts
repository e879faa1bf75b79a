import { notFound, type Page, type PageQuery, pageWindow, paginationOf } from '@platform/service-kit';
import type { SmtpProblem } from '../delivery/outcome.js';
import { toFailure } from './failure.js';
import type { Prisma } from '../../resources.js';
import { countRecords, findRecord, findRecords, type RecordRow } from './queries.js';
import type { MailRecord } from './schemas.js';

export interface RecordService {
  /** What the organisation sent, newest first. */
  list(orgId: string, query: PageQuery): Promise<Page<MailRecord>>;
  /** @throws AppError 404, for another organisation's too. */
  get(orgId: string, id: string): Promise<MailRecord>;
}

const describe = (row: RecordRow): MailRecord => ({
  id: row.id,
  orgId: row.orgId,
  subject: row.subject,
  from: row.fromAddress,
  to: row.toAddresses,
  cc: row.ccAddresses,
  refused: row.refusedAddresses,
  emailTemplateType: row.templateType,
  state: row.state,
  failure: row.problem === null ? null : toFailure(row.problem as unknown as SmtpProblem),
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});

export const createRecordService = (prisma: Prisma): RecordService => ({
  async list(orgId, query) {
    const total = await countRecords(prisma, orgId);
    const window = pageWindow(query, total);
    const rows = window ? await findRecords(prisma, orgId, window) : [];
    return { data: rows.map(describe), pagination: paginationOf(query, total) };
  },
  async get(orgId, id) {
    const row = await findRecord(prisma, orgId, id);
    if (!row) throw notFound('Mail record not found');
    return describe(row);
  },
});
