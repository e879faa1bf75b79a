import { encodeQR } from 'qr';
import type { SecondFactorState } from '../second-factor/schemas.js';
import type { Enrolment } from '../second-factor/enrolment.js';
import { Html, html } from '../pages/html.js';
import type { Page } from '../pages/page.js';
import type { FormState } from './pages.js';
import { SIGN_IN_PATH, toSignInPath } from './paths.js';

export const SECOND_FACTOR_PATH = `${SIGN_IN_PATH}/second-factor`;
export const SET_UP_PATH = `${SECOND_FACTOR_PATH}/set-up`;
/** The own second factor, for a browser that is signed in. */
export const SECURITY_PATH = `${SIGN_IN_PATH}/security`;
export const securityActions = {
  setUp: `${SECURITY_PATH}/set-up`,
  confirm: `${SECURITY_PATH}/confirm`,
  renewCodes: `${SECURITY_PATH}/recovery-codes`,
  remove: `${SECURITY_PATH}/remove`,
} as const;

const codeInput = (maxLength: number, isFirst = true): Html =>
  html`<input
    id="code"
    class="code"
    name="code"
    autocomplete="one-time-code"
    maxlength="${maxLength}"
    required
    ${isFirst && new Html(' autofocus')}
    ${maxLength === DIGITS && new Html(' inputmode="numeric" pattern="[0-9]{6}" title="Six digits"')}
  />`;
const DIGITS = 6;
const MAX_CODE_LENGTH = 64;
const CODE_HINT = 'The six digits that your authenticator app shows, or one of your recovery codes.';

/** Asks for the second factor of a sign-in whose first factor was right. */
export const secondFactorPage = (state: FormState): Page => ({
  title: 'Enter the second factor',
  body: html`<p class="quiet">${state.email}</p>
    <p role="alert">${state.fault}</p>
    <form method="post" action="${SECOND_FACTOR_PATH}">
      ${state.token}<input type="hidden" name="returnTo" value="${state.returnTo}" />
      <label for="code">Code</label>
      ${codeInput(MAX_CODE_LENGTH)}
      <small>${CODE_HINT}</small>
      <button class="wide">Sign in</button>
    </form>
    <p class="links"><a href="${toSignInPath(state.returnTo)}">Begin again</a></p>`,
});

/** Shows what an authenticator app needs, and asks for its first code. */
export const setUpPage = (
  { secret, uri, enrolment }: Enrolment,
  action: string,
  state: FormState & { readonly reason?: string },
): Page => ({
  title: 'Set up an authenticator app',
  body: html`${state.reason !== undefined && html`<p>${state.reason}</p>`}
    <p>Scan the picture with an authenticator app, then enter the code that it shows.</p>
    <div class="qr" role="img" aria-label="QR code for the authenticator app">
      ${new Html(encodeQR(uri, 'svg', { border: 4 }))}
    </div>
    <p class="quiet">No camera? Type this key: <code>${secret.replaceAll(/.{4}(?=.)/g, '$& ')}</code></p>
    <p role="alert">${state.fault}</p>
    <form method="post" action="${action}">
      ${state.token}<input type="hidden" name="returnTo" value="${state.returnTo}" />
      <input type="hidden" name="enrolment" value="${enrolment}" />
      <label for="code">Code</label>
      ${codeInput(DIGITS)}
      <button class="wide">Confirm</button>
    </form>`,
});

/** Shows new recovery codes, this once. */
export const recoveryCodesPage = (codes: readonly string[], returnTo: string): Page => ({
  title: 'Keep your recovery codes',
  body: html`<p>
      Each code signs you in once when your device is lost. Print them or put them into a password manager:
      they are not shown again.
    </p>
    <ul class="codes">
      ${codes.map((code) => html`<li><code>${code}</code></li>`)}
    </ul>
    <p class="links"><a class="button" href="${returnTo}">I have saved them</a></p>`,
});

/** Shows the own second factor, and what can be done about it with the password, and with a code when there is an app. */
export const securityPage = (
  { totp, recoveryCodesLeft, isRequired }: SecondFactorState,
  email: string,
  { token, fault, done }: Pick<FormState, 'token' | 'fault'> & { readonly done?: string },
): Page => ({
  title: 'Second factor',
  body: html`<p class="quiet">${email}</p>
    <p role="status">${done}</p>
    <p>
      ${
        totp
          ? `An authenticator app was set up on ${totp.createdAt.slice(0, 10)}. Recovery codes left: ${recoveryCodesLeft}.`
          : 'With an authenticator app on your phone, nobody can sign in with your password alone.'
      }
      ${isRequired && ' Your organisation requires a second factor.'}
    </p>
    <p role="alert">${fault}</p>
    <form method="post" action="${securityActions.setUp}">
      ${token}
      <input name="username" type="text" value="${email}" autocomplete="username" hidden readonly />
      <label for="password">Your password</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        maxlength="256"
        required
      />
      ${
        totp !== null &&
        html`<label for="code">Code</label>
          ${codeInput(MAX_CODE_LENGTH, false)}
          <small>${CODE_HINT}</small>`
      }
      <button class="wide">
        ${totp ? 'Set up another app in its place' : 'Set up an authenticator app'}
      </button>
      ${
        totp !== null &&
        html`<button class="wide plain" formaction="${securityActions.renewCodes}">
          New recovery codes
        </button>`
      }
      ${
        totp !== null &&
        !isRequired &&
        html`<button class="wide plain" formaction="${securityActions.remove}">Remove the app</button>`
      }
    </form>
    <p class="links"><a href="/">Back</a></p>`,
});
