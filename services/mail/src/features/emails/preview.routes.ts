import { getAccount, requireAdmin, requireScopes } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import type { createPreview } from './preview.js';
import { PreviewResponse, PreviewBody } from './schemas.js';
import { refuseUnknownTemplate } from './routes.js';

const tags = ['Mail'];

/** Registers the preview. It requires an administrator's session, or a token with `SEND_MAIL`. */
export function previewRoute(app: App, render: ReturnType<typeof createPreview>): void {
  app.post(
    '/api/v1/mail/preview',
    {
      onRequest: [app.authenticate, requireScopes(['SEND_MAIL']), requireAdmin()],
      preValidation: refuseUnknownTemplate,
      schema: {
        operationId: 'previewEmail',
        tags,
        summary: 'Render a template without sending it',
        body: PreviewBody,
        response: { 200: PreviewResponse, ...errorResponses(400, 401, 403) },
      },
    },
    (request) => render(getAccount(request).orgId, request.body),
  );
}
