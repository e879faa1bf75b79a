import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import { AuditPage, AuditQuery } from './schemas.js';
import { listAuditEntries } from './service.js';
import { requireAdminRole } from '../base/authority.js';
import type { Prisma } from '../prisma.js';

/** Registers the routes of the audit, for administrators with a session. */
function auditRoutes(app: App, prisma: Prisma): void {
  app.get(
    '/api/v1/audit',
    {
      onRequest: [app.authenticate, requireAdminRole, requireSession],
      schema: {
        operationId: 'listAuditEntries',
        tags: ['Audit'],
        summary: 'What happened in the organisation, newest first',
        description:
          'Pages by number, or by `cursor`. `names` has the names of actors, subjects and credentials that still exist. A search reads at most 20,000 entries in a request.',
        querystring: AuditQuery,
        response: { 200: AuditPage, ...errorResponses(400, 401, 403) },
      },
    },
    (request) => listAuditEntries(prisma, getMember(request), request.query),
  );
}

/** Registers the audit that administrators read. */
export function registerAudit(app: App, { prisma }: { readonly prisma: Prisma }): void {
  auditRoutes(app, prisma);
}
