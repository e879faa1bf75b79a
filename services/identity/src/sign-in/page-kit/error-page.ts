import { STATUS_CODES } from 'node:http';
import type { AppError } from '@platform/service-kit';
import { type Html, html } from './html.js';
import type { Page } from './page.js';

interface ErrorPage {
  readonly title: string;
  readonly what: Html | string;
  /** Who can mend it, and how. */
  readonly advice: string;
  readonly requestId: string;
  /** The links that lead on. */
  readonly links?: Html;
}

/** The page that says what went wrong and who can mend it, with the id by which an operator finds the request. */
export const errorPage = ({ title, what, advice, requestId, links }: ErrorPage): Page => ({
  title,
  body: html`<p role="alert">${what}</p>
    <p>${advice}</p>
    <p class="quiet">Request id <code class="copied">${requestId}</code></p>
    ${links && html`<p class="links">${links}</p>`}`,
});

const titles: Readonly<Record<number, string>> = {
  400: 'That did not work',
  401: 'Sign in again',
  403: 'You are not allowed to do this',
  404: 'Not found',
  405: 'This address takes no such request',
  409: 'That did not work',
  429: 'Too many attempts',
  503: 'Not available at the moment',
};

function toAdvice(status: number): string {
  if (status === 404)
    return 'The address may be mistyped, or what was there is gone. Whoever gave it to you can give you another one.';
  if (status === 403) return 'An administrator of your organisation can change that.';
  if (status === 429) return 'Nobody has to do anything: wait a minute, then try again.';
  if (status === 503)
    return 'Try again in a minute. If that does not help, tell the operator of the platform the request id.';
  if (status >= 500) return 'Tell the operator of the platform the request id: it leads to the reason.';
  return 'Try again. If that does not help, tell an administrator of your organisation the request id.';
}

/** @param again - where the person can try again; without it, the page leads to the start of the console. */
export const toErrorPage = (
  { statusCode: status, message, details = [] }: Pick<AppError, 'statusCode' | 'message' | 'details'>,
  requestId: string,
  again?: string,
): Page =>
  errorPage({
    title: titles[status] ?? STATUS_CODES[status] ?? 'Error',
    what: html`${message}${details.map((fault) => html`<br />${fault.field} ${fault.message}`)}`,
    advice: toAdvice(status),
    requestId,
    links: again === undefined ? html`<a href="/">To the start</a>` : html`<a href="${again}">Try again</a>`,
  });

/** Whether a person reads the answer, rather than a program. */
export const isForBrowser = (method: string | undefined, accept: string | undefined): boolean =>
  method === 'GET' && (accept ?? '').includes('text/html');
