import { getAccount, requireAdmin, requireSession } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import type { Brands } from './brand.js';
import { BrandBody, BrandResponse, MAX_BODY_BYTES } from './schemas.js';

const tags = ['Brand'];
const path = '/api/v1/mail/brand';

/** Registers the brand. It requires an administrator's session, because it decides where replies go. */
export function brandRoutes(app: App, brands: Brands): void {
  const onRequest = [app.authenticate, requireSession, requireAdmin()];
  app.get(
    path,
    {
      onRequest,
      schema: {
        operationId: 'getMailBrand',
        tags,
        summary: "What the organisation's mails look like",
        description: 'A field that nobody has set is null.',
        response: { 200: BrandResponse, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({ data: await brands.read(getAccount(request).orgId) }),
  );
  app.put(
    path,
    {
      onRequest,
      bodyLimit: MAX_BODY_BYTES,
      schema: {
        operationId: 'saveMailBrand',
        tags,
        summary: 'Replace the brand; other replicas use it within a minute',
        description:
          'Replaces the brand as a whole: a field that is left out is removed. The logo is a PNG of at most 64 KiB, sent within each mail.',
        body: BrandBody,
        response: { 200: BrandResponse, ...errorResponses(400, 401, 403) },
      },
    },
    async (request) => {
      const { orgId, userId } = getAccount(request);
      const data = await brands.save(orgId, request.body);
      request.log.info({ orgId, userId, fields: Object.keys(data) }, 'brand saved');
      return { data };
    },
  );
}
