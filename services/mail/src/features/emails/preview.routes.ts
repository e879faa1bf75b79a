import { getAccount, requireAdmin, requireScopes } from '@platform/auth';
import { type App, errorResponses, getBodyText, validationError } from '@platform/service-kit';
import type { Brands } from '../brand/brand.js';
import { inlineLogo, renderTemplate } from '../templates/render.js';
import { createView } from '../templates/view.js';
import { findRoundedValue } from './body.js';
import { PreviewResponse, PreviewBody } from './schemas.js';
import { refuseUnknownTemplate } from './routes.js';
import { unknownTemplate } from './errors.js';

/**
 * Registers the preview, which requires an administrator's session, or a token with `SEND_MAIL`. It renders the HTML and text
 * parts as they would be sent, but with the logo in the HTML, because a preview has no attachments.
 */
export function previewRoute(app: App, brands: Pick<Brands, 'get'>): void {
  app.post(
    '/api/v1/mail/preview',
    {
      onRequest: [app.authenticate, requireScopes(['SEND_MAIL']), requireAdmin()],
      config: { keepsBodyText: true },
      preValidation: refuseUnknownTemplate,
      schema: {
        operationId: 'previewEmail',
        tags: ['Mail'],
        summary: 'Render a template without sending it',
        description: "Returns what `sendEmail` would send, in the organisation's brand. Nothing is stored.",
        body: PreviewBody,
        response: { 200: PreviewResponse, ...errorResponses(400, 401, 403, unknownTemplate()) },
      },
    },
    async (request) => {
      const { emailTemplateType, templateData, productName, language } = request.body;
      const rounded = findRoundedValue(getBodyText(request) ?? '', request.body);
      if (rounded) throw validationError([rounded]);
      const brand = await brands.get(getAccount(request).orgId);
      const viewed = createView(emailTemplateType, templateData, { productName, brand, language });
      if ('faults' in viewed) throw validationError(viewed.faults);
      return inlineLogo(renderTemplate(emailTemplateType, viewed.view, language ?? brand.language), brand);
    },
  );
}
