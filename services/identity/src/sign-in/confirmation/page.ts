import { type Html, html } from '../page-kit/html.js';
import type { Page } from '../page-kit/page.js';
import { CONFIRM_WITH_PROVIDER_PATH, type FormState } from '../pages/pages.js';
import { CONFIRM_SESSION_PATH, toSignInPath } from '../pages/paths.js';

const title = 'Confirm that it is you';

interface ConfirmState extends FormState {
  /** The path of the request that needs it, so that a member can see it first, or refuse it. */
  readonly requestPage: string | undefined;
}

const passwordField = html`<label for="password">Your password</label>
  <input
    id="password"
    name="password"
    type="password"
    autocomplete="current-password"
    maxlength="256"
    required
    autofocus
  />`;

/** Leads to the organisation's provider, for members without a password here. */
const providerForm = ({ token }: Pick<FormState, 'token'>, back: string): Html =>
  html`<p class="or">or</p>
    <form method="post" action="${CONFIRM_WITH_PROVIDER_PATH}">
      ${token}<input type="hidden" name="returnTo" value="${back}" />
      <button class="wide plain">Confirm with your organisation</button>
    </form>`;

/** Asks for the password, or for a sign-in at the provider, before dangerous acts. */
export const confirmSessionPage = (
  email: string,
  isConnected: boolean,
  { token, returnTo, requestPage, fault }: ConfirmState,
): Page => ({
  title,
  body: html`<p class="quiet">${email}</p>
    <p role="alert">${fault}</p>
    <form method="post" action="${CONFIRM_SESSION_PATH}">
      ${token}<input type="hidden" name="returnTo" value="${returnTo}" />
      ${requestPage !== undefined && html`<input type="hidden" name="requestPage" value="${requestPage}" />`}
      <input name="username" type="text" value="${email}" autocomplete="username" hidden readonly />
      ${passwordField}
      <button class="wide">Confirm</button>
    </form>
    ${isConnected && providerForm({ token }, returnTo)}
    <p class="links">
      <a href="${toSignInPath(returnTo)}&amp;prompt=login">Sign in again instead</a>
      ${requestPage !== undefined && html`<a href="${requestPage}">See the request first</a>`}
    </p>`,
});

export const sessionConfirmedPage = (email: string, returnTo: string): Page => {
  const back: Html | false =
    returnTo !== CONFIRM_SESSION_PATH && html`<p class="links"><a href="${returnTo}">Continue</a></p>`;
  return {
    title: 'You have confirmed it is you',
    body: html`<p class="quiet">${email}</p>
      <p>Go back to the tab that asked for it, and go on there.</p>
      ${back}`,
  };
};
