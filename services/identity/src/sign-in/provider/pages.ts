import { Html, html } from '../page-kit/html.js';
import type { Page } from '../page-kit/page.js';
import { toSignInPath } from '../pages/paths.js';
import { type FormState, PROVIDER_PATH } from '../pages/pages.js';

/** Below it, each organisation has its own address. */
export const CALLBACK_PATH = `${PROVIDER_PATH}/callback`;

export const providerPage = ({ token, returnTo, email = '', fault }: FormState): Page => ({
  title: 'Sign in with your organisation',
  body: html`<p class="quiet">Your e-mail address leads to the sign-in that your organisation has set up.</p>
    <p role="alert">${fault}</p>
    <form method="post" action="${PROVIDER_PATH}">
      ${token}<input type="hidden" name="returnTo" value="${returnTo}" />
      <label for="email">E-mail address</label>
      <input
        id="email"
        name="email"
        type="email"
        autocomplete="username"
        maxlength="254"
        required
        value="${email}"
        ${fault === undefined && new Html(' autofocus')}
      />
      <button class="wide">Continue</button>
    </form>
    <p class="links"><a href="${toSignInPath(returnTo)}">Use the password</a></p>`,
});

/**
 * Leads on to the provider. It is a page rather than a redirect: browsers apply `form-action` to what a form is redirected
 * to, and the page with the form cannot know the provider yet.
 */
export const leavingPage = (to: URL): Page => ({
  title: 'Going to your organisation',
  refresh: to.href,
  body: html`<p class="quiet">You sign in at <strong>${to.host}</strong> and come back here.</p>
    <p class="links"><a href="${to.href}">Continue</a></p>`,
});

export const failedPage = (message: string, returnTo: string): Page => ({
  title: 'You are not signed in',
  body: html`<p role="alert">${message}.</p>
    <p class="links">
      <a href="${toSignInPath(returnTo, PROVIDER_PATH)}">Try again</a>
      <a href="${toSignInPath(returnTo)}">Use the password</a>
    </p>`,
});

/** For a browser that stays signed in. */
export const unconfirmedPage = (message: string, returnTo: string): Page => ({
  title: 'You are not confirmed',
  body: html`<p role="alert">${message}.</p>
    <p class="links"><a href="${returnTo}">Back</a></p>`,
});
