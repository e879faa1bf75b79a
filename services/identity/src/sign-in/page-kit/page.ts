import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { Html, html } from './html.js';
import { style } from './style.js';

const BRAND = 'Workspace knowledge platform';

export interface Page {
  readonly title: string;
  /** The organisation that the page is about, where that is not the one of its reader. */
  readonly organisation?: string | undefined;
  /** The content of the page's card, below its title. */
  readonly body: Html;
  /** Runs at the end of the page. Only pages that cannot do without have one: the others work without JavaScript. */
  readonly script?: string;
  /** Leads on to this address at once. */
  readonly refresh?: string;
}

export interface PageOptions {
  readonly status?: number;
  /**
   * Origins beside this one to which a form of the page may lead. Browsers apply the policy to redirects too, so a form
   * whose answer sends the person to another site has to name that.
   */
  readonly formTargets?: readonly string[];
}

// The style and the script are constants of this service, so they contain no markup of anybody else.
const styleElement = new Html(`<style>${style}</style>`);

const renderPage = ({ title, organisation, body, script, refresh }: Page): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        ${refresh !== undefined && html`<meta http-equiv="refresh" content="0;url=${refresh}" />`}
        <title>${title} · ${BRAND}</title>
        ${styleElement}
      </head>
      <body>
        <main>
          <p class="brand">${BRAND}</p>
          ${organisation !== undefined && html`<p class="organisation">${organisation}</p>`}
          <div class="card">
            <h1>${title}</h1>
            ${body}
          </div>
        </main>
        ${script !== undefined && new Html(`<script>${script}</script>`)}
      </body>
    </html> `;

const toSource = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;

function toPolicy({ script }: Page, { formTargets = [] }: PageOptions): string {
  return [
    `default-src 'none'`,
    `style-src ${toSource(style)}`,
    ...(script === undefined ? [] : [`script-src ${toSource(script)}`]),
    `font-src 'self'`,
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');
}

/** Returns a page as a response has it. Nothing stores or frames it, and it loads nothing but the face of its style. */
export const toPageResponse = (
  page: Page,
  options: PageOptions = {},
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } => ({
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': toPolicy(page, options),
    'cross-origin-opener-policy': 'same-origin',
    // With `no-referrer`, browsers would send `Origin: null` with forms.
    'referrer-policy': 'same-origin',
  },
  body: String(renderPage(page)),
});

export function sendPage(reply: FastifyReply, page: Page, options: PageOptions = {}): FastifyReply {
  const organisation = page.organisation ?? reply.organisation;
  const { headers, body } = toPageResponse({ ...page, organisation }, options);
  return reply
    .code(options.status ?? 200)
    .headers(headers)
    .send(body);
}
