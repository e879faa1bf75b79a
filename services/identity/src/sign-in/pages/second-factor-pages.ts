import { encodeQR } from 'qr';
import { Html, html } from '../page-kit/html.js';
import type { Page } from '../page-kit/page.js';
import type { Enrolment } from '../second-factor/enrolment.js';
import type { SignInState } from '../second-factor/sign-in.js';
import type { FormState } from './pages.js';
import { passkeyField, passkeyScript, passkeysMissing, toPasskeyAttribute } from './passkey-forms.js';
import { SIGN_IN_PATH, toSignInPath } from './paths.js';

export const SECOND_FACTOR_PATH = `${SIGN_IN_PATH}/second-factor`;
export const SET_UP_PATH = `${SECOND_FACTOR_PATH}/set-up`;
export const SET_UP_PASSKEY_PATH = `${SET_UP_PATH}/passkey`;

const DIGITS = 6;
const MAX_CODE_LENGTH = 64;

const codeInput = (maxLength: number, { isFirst = true, isRequired = true } = {}): Html =>
  html`<input
    id="code"
    name="code"
    autocomplete="one-time-code"
    maxlength="${maxLength}"
    ${isRequired && new Html(' required')}
    ${isFirst && new Html(' autofocus')}
    ${maxLength === DIGITS && new Html(' class="code" inputmode="numeric" pattern="[0-9]{6}" title="Six digits"')}
  />`;

/** Asks for a code of whatever the account has. */
export const codeField = (
  { hasTotp, hasPasskey }: Pick<SignInState, 'hasTotp' | 'hasPasskey'>,
  form: { readonly isFirst?: boolean; readonly isRequired?: boolean } = {},
): Html =>
  html`<label for="code">${hasTotp ? 'Code' : 'Recovery code'}</label>
    ${codeInput(MAX_CODE_LENGTH, form)}
    <small>
      ${hasTotp ? 'The six digits that your authenticator app shows, or a recovery code.' : 'One of your saved codes.'}
      ${hasPasskey && form.isRequired === false && ' Leave it empty to use a passkey.'}
    </small>`;

const returnField = ({ token, returnTo }: FormState): Html =>
  html`${token}<input type="hidden" name="returnTo" value="${returnTo}" />`;

/** Asks for the second factor of a sign-in whose first factor was right. */
export const secondFactorPage = (
  state: FormState,
  factors: Pick<SignInState, 'hasTotp' | 'hasPasskey'>,
  options?: object,
): Page => ({
  title: 'Enter the second factor',
  body: html`<p class="quiet">${state.email}</p>
    <p role="alert">${state.fault}</p>
    ${
      options !== undefined &&
      html`<form method="post" action="${SECOND_FACTOR_PATH}" hidden${toPasskeyAttribute({ get: options })}>
          ${returnField(state)}${passkeyField}
          <button class="wide">Use a passkey</button>
          <p class="or">or</p>
        </form>
        ${passkeysMissing}`
    }
    <form method="post" action="${SECOND_FACTOR_PATH}">
      ${returnField(state)} ${codeField(factors, { isFirst: options === undefined })}
      <button class="wide${options !== undefined && ' plain'}">Sign in</button>
    </form>
    <p class="links"><a href="${toSignInPath(state.returnTo)}">Begin again</a></p>`,
  ...(options !== undefined && { script: passkeyScript }),
});

/** Shows what an authenticator app needs, and asks for its first code. */
export const setUpPage = (
  { secret, uri, enrolment }: Enrolment,
  action: string,
  state: FormState & {
    readonly reason?: string;
    /** The options of a passkey that can be set up in place of the app. */
    readonly passkey?: object | undefined;
  },
): Page => ({
  title: state.passkey === undefined ? 'Set up an authenticator app' : 'Set up a second factor',
  body: html`${state.reason !== undefined && html`<p>${state.reason}</p>`}
    <p role="alert">${state.fault}</p>
    ${
      state.passkey !== undefined &&
      html`<form
          method="post"
          action="${SET_UP_PASSKEY_PATH}"
          hidden${toPasskeyAttribute({ create: state.passkey })}
        >
          ${returnField(state)}${passkeyField}
          <p>With a passkey, you confirm with this device, your phone or a security key.</p>
          <button class="wide">Set up a passkey</button>
          <p class="or">or</p>
        </form>
        ${passkeysMissing}`
    }
    <p>Scan the picture with an authenticator app, then enter the code that it shows.</p>
    <div class="qr" role="img" aria-label="QR code for the authenticator app">
      ${new Html(encodeQR(uri, 'svg', { border: 4 }))}
    </div>
    <p class="quiet">No camera? Type this key: <code>${secret.replaceAll(/.{4}(?=.)/g, '$& ')}</code></p>
    <form method="post" action="${action}">
      ${returnField(state)}
      <input type="hidden" name="enrolment" value="${enrolment}" />
      <label for="code">Code</label>
      ${codeInput(DIGITS, { isFirst: state.passkey === undefined })}
      <button class="wide${state.passkey !== undefined && ' plain'}">Confirm</button>
    </form>`,
  ...(state.passkey !== undefined && { script: passkeyScript }),
});

/** Only with it can the codes be copied, saved and printed by a button; without it they can be selected. */
const keepScript = `
const codes = [...document.querySelectorAll('.codes code')].map((code) => code.textContent).join('\\n') + '\\n';
const get = (id) => document.getElementById(id);
get('keep').hidden = false;
get('keep-file').href = 'data:text/plain;charset=utf-8,' + encodeURIComponent(codes);
get('keep-print').addEventListener('click', () => window.print());
get('keep-copy').addEventListener('click', async () => {
  await navigator.clipboard.writeText(codes);
  get('keep-copy').textContent = 'Copied';
});
`;

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
    <p class="links" id="keep" hidden>
      <button type="button" class="plain" id="keep-copy">Copy</button>
      <a class="button plain" id="keep-file" download="recovery-codes.txt">Download</a>
      <button type="button" class="plain" id="keep-print">Print</button>
    </p>
    <p class="links"><a class="button" href="${returnTo}">I have saved them</a></p>`,
  script: keepScript,
});
