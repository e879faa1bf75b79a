import { Html, html } from '../page-kit/html.js';
import type { Page } from '../page-kit/page.js';
import { passkeyField, passkeySignInScript } from './passkey-forms.js';
import { SIGN_IN_PATH, SIGN_OUT_PATH, toSignInPath } from './paths.js';

/** The common content of all forms, with the fault of the last attempt. */
export interface FormState {
  /** The hidden field with the token of the form. */
  readonly token: Html;
  readonly returnTo: string;
  readonly email?: string;
  readonly fault?: string | undefined;
}

const showFault = ({ fault }: Pick<FormState, 'fault'>): Html => html`<p role="alert">${fault}</p>`;

const hidden = ({ token, returnTo }: FormState): Html =>
  html`${token}<input type="hidden" name="returnTo" value="${returnTo}" />`;

const emailField = ({ email = '' }: FormState, autocomplete = 'username'): Html =>
  html`<label for="email">E-mail address</label>
    <input
      id="email"
      name="email"
      type="email"
      autocomplete="${autocomplete}"
      maxlength="254"
      required
      value="${email}"
      ${email === '' && new Html(' autofocus')}
    />`;

const link = (page: string, { returnTo }: FormState, text: string): Html =>
  html`<a href="${toSignInPath(returnTo, page)}">${text}</a>`;

export const CODE_PATH = `${SIGN_IN_PATH}/code`;
export const FORGOT_PATH = `${SIGN_IN_PATH}/forgot-password`;
export const PROVIDER_PATH = `${SIGN_IN_PATH}/provider`;
/** Takes what a passkey has signed that signs in alone. */
export const PASSKEY_PATH = `${SIGN_IN_PATH}/passkey`;
/** Confirms the session of the browser with a fresh sign-in at the provider. */
export const CONFIRM_WITH_PROVIDER_PATH = `${PROVIDER_PATH}/confirm`;

/** @param passkey - the options of a passkey that signs in alone; without them there is no way to. */
export const signInPage = (state: FormState, passkey?: object): Page => ({
  title: 'Sign in',
  body: html`${showFault(state)}
    <form method="post" action="${SIGN_IN_PATH}">
      ${hidden(state)} ${emailField(state, passkey === undefined ? 'username' : 'username webauthn')}
      <label for="password">Password</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        maxlength="256"
        required${state.email !== undefined && new Html(' autofocus')}
      />
      <button class="wide">Sign in</button>
    </form>
    ${
      passkey !== undefined &&
      html`<form
        method="post"
        action="${PASSKEY_PATH}"
        hidden
        data-passkey-alone="${JSON.stringify(passkey)}"
      >
        ${hidden(state)}${passkeyField}
        <p class="or">or</p>
        <button class="wide plain">Sign in with a passkey</button>
      </form>`
    }
    <p class="links">
      ${link(CODE_PATH, state, 'E-mail me a code')} ${link(FORGOT_PATH, state, 'Forgot the password?')}
      ${link(PROVIDER_PATH, state, 'Sign in with your organisation')}
    </p>`,
  ...(passkey !== undefined && { script: passkeySignInScript }),
});

export const requestCodePage = (state: FormState): Page => ({
  title: 'Sign in with a code',
  body: html`<p class="quiet">A code of six digits comes by e-mail. It works once, for ten minutes.</p>
    ${showFault(state)}
    <form method="post" action="${CODE_PATH}">
      ${hidden(state)} ${emailField(state)}
      <button class="wide">E-mail me a code</button>
    </form>
    <p class="links">${link(SIGN_IN_PATH, state, 'Use the password')}</p>`,
});

export const enterCodePage = (state: FormState): Page => ({
  title: 'Enter the code',
  body: html`<p>If there is an account for ${state.email}, a code is on its way.</p>
    ${showFault(state)}
    <form method="post" action="${CODE_PATH}">
      ${hidden(state)}
      <input type="hidden" name="email" value="${state.email}" />
      <label for="otp">Code</label>
      <input
        id="otp"
        class="code"
        name="otp"
        inputmode="numeric"
        autocomplete="one-time-code"
        pattern="[0-9]{6}"
        title="Six digits"
        maxlength="6"
        required
        autofocus
      />
      <button class="wide">Sign in</button>
    </form>
    <p class="links">
      ${link(CODE_PATH, state, 'Ask for another code')} ${link(SIGN_IN_PATH, state, 'Use the password')}
    </p>`,
});

export const forgotPasswordPage = (state: FormState): Page => ({
  title: 'Choose a new password',
  body: html`<p class="quiet">A link to choose a new password comes by e-mail. It works once, for an hour.</p>
    ${showFault(state)}
    <form method="post" action="${FORGOT_PATH}">
      ${hidden(state)} ${emailField(state)}
      <button class="wide">E-mail me a link</button>
    </form>
    <p class="links">${link(SIGN_IN_PATH, state, 'Back to the sign-in')}</p>`,
});

export const resetRequestedPage = (state: FormState): Page => ({
  title: 'Look into your mail',
  body: html`<p>If there is an account for ${state.email}, a link to choose a new password is on its way.</p>
    <p class="links">${link(SIGN_IN_PATH, state, 'Back to the sign-in')}</p>`,
});

export const signOutPage = (token: Html, email: string): Page => ({
  title: 'Sign out?',
  body: html`<p class="quiet">This browser is signed in as ${email}.</p>
    <form method="post" action="${SIGN_OUT_PATH}">${token}<button class="wide">Sign out</button></form>
    <p class="links"><a href="/">Stay signed in</a></p>`,
});

export const signedOutPage: Page = {
  title: 'You are signed out',
  body: html`<p class="links"><a href="${SIGN_IN_PATH}">Sign in</a></p>`,
};
