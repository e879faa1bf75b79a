import type { App } from '@platform/service-kit';
import { accountPages, pageHeaders } from './page.js';

/** The path of the pages below `PUBLIC_URL`, to which mailed links lead when there is no web app. */
export const PAGES_PATH = '/api/v1/auth';

/** Open to everyone: the pages contain no data. They aren't part of the documented API. */
export function accountPageRoutes(app: App, appUrl: string | undefined): void {
  for (const [name, page] of Object.entries(accountPages(appUrl)))
    app.get(`${PAGES_PATH}/${name}`, { schema: { hide: true } }, (_request, reply) => {
      void reply.headers(pageHeaders).send(page);
    });
}
