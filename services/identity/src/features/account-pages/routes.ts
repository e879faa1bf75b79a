import type { App } from '@platform/service-kit';
import { accountPages, pageHeaders } from './page.js';

/** Where mailed links lead without a web app, below `PUBLIC_URL`. */
export const PAGES_PATH = '/api/v1/auth';

/** Open to everyone: the pages are the same for all, and no part of the API. */
export function accountPageRoutes(app: App, appUrl: string | undefined): void {
  for (const [name, page] of Object.entries(accountPages(appUrl)))
    app.get(`${PAGES_PATH}/${name}`, { schema: { hide: true } }, (_request, reply) => {
      void reply.headers(pageHeaders).send(page);
    });
}
