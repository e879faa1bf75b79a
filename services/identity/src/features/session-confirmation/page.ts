import { type Html, html } from '../pages/html.js';
import type { Page } from '../pages/page.js';
import { confirmForm, passwordField } from '../sign-in-pages/change-pages.js';
import type { FormState } from '../sign-in-pages/pages.js';
import { SIGN_IN_PATH, toSignInPath } from '../sign-in-pages/paths.js';

export const CONFIRM_SESSION_PATH = `${SIGN_IN_PATH}/confirm`;

const title = 'Confirm that it is you';

/** Asks for the password, or for a sign-in at the provider, before dangerous acts. */
export const confirmSessionPage = (
  email: string,
  isConnected: boolean,
  { token, returnTo, fault }: FormState,
): Page => ({
  title,
  body: html`<p class="quiet">${email}</p>
    <p role="alert">${fault}</p>
    <form method="post" action="${CONFIRM_SESSION_PATH}">
      ${token}<input type="hidden" name="returnTo" value="${returnTo}" />
      <input name="username" type="text" value="${email}" autocomplete="username" hidden readonly />
      ${passwordField}
      <button class="wide">Confirm</button>
    </form>
    ${isConnected && confirmForm({ token }, returnTo)}
    <p class="links"><a href="${toSignInPath(returnTo)}&amp;prompt=login">Sign in again instead</a></p>`,
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
