import { html } from './html.js';
import type { Page } from './page.js';

/** Browsers hold no cookie of this platform over plain HTTP, so that no form can be sent. */
export const httpsRequiredPage: Page = {
  title: 'HTTPS is required',
  body: html`<p>This platform is reached over plain HTTP, so a browser could not keep your sign-in safe.</p>
    <p class="quiet">Ask its operator to set up HTTPS and to name the address in PUBLIC_URL.</p>`,
};
