import type { App } from '@platform/service-kit';
import type { Prisma } from '../resources.js';
import { auditRoutes } from './routes.js';
import { createAuditService } from './service.js';

/** Registers the audit that administrators read. */
export function registerAudit(app: App, { prisma }: { readonly prisma: Prisma }): void {
  auditRoutes(app, createAuditService(prisma));
}
