import { type Html, html } from '../page-kit/html.js';
import type { Page } from '../page-kit/page.js';
import type { SecondFactorState } from '../second-factor/schemas.js';
import type { Confirmation } from '../second-factor/service.js';
import { CONFIRM_WITH_PROVIDER_PATH, type FormState } from './pages.js';
import { passkeyField, passkeyScript, passkeysMissing, toPasskeyAttribute } from './passkey-forms.js';
import { toSignInPath } from './paths.js';
import { codeField } from './second-factor-pages.js';
import {
  type Change,
  changes,
  CONFIRM_PASSKEY_PATH,
  type Passkey,
  RENAME_PASSKEY_PATH,
  SECURITY_PATH,
} from './security-pages.js';

interface ChangeText {
  readonly path: string;
  readonly title: string;
  readonly text?: string;
  readonly button: string;
}

const backToSecurity = (returnTo: string): Html =>
  html`<p class="links"><a href="${toSignInPath(returnTo, SECURITY_PATH)}">Cancel</a></p>`;

/** Asks for the password of the person who is signed in. */
export const passwordField = html`<label for="password">Your password</label>
  <input
    id="password"
    name="password"
    type="password"
    autocomplete="current-password"
    maxlength="256"
    required
    autofocus
  />`;

/** Leads to the organisation's provider, for those who have no password here. */
export const confirmForm = ({ token }: Pick<FormState, 'token'>, back: string): Html =>
  html`<p class="or">or</p>
    <form method="post" action="${CONFIRM_WITH_PROVIDER_PATH}">
      ${token}<input type="hidden" name="returnTo" value="${back}" />
      <button class="wide plain">Confirm with your organisation</button>
    </form>`;

/** Asks for the password, and for a factor when the account has one, before a change. */
export const proofPage = (
  change: Change,
  { totp, passkeys }: SecondFactorState,
  email: string,
  state: FormState & {
    readonly passkey?: Passkey | undefined;
    /** The options of the passkeys that can take the place of a code. */
    readonly options?: object | undefined;
    /** States whether a sign-in with the provider can replace the password, and whether it has. */
    readonly confirmation: Confirmation;
  },
): Page => {
  const { path, title, button, text }: ChangeText = changes[change];
  const { token, returnTo, fault, passkey, options } = state;
  const { isConnected, isConfirmed } = state.confirmation;
  const ownPath = `${toSignInPath(returnTo, path)}${passkey ? `&id=${passkey.id}` : ''}`;
  const factors = { hasTotp: totp !== null, hasPasskey: options !== undefined };
  return {
    title,
    body: html`<p class="quiet">${passkey?.name ?? email}</p>
      ${text !== undefined && html`<p>${text}</p>`}
      <p role="alert">${fault}</p>
      <form method="post" action="${path}" ${options !== undefined && toPasskeyAttribute({ get: options })}>
        ${token}<input type="hidden" name="returnTo" value="${returnTo}" />
        ${passkey !== undefined && html`<input type="hidden" name="id" value="${passkey.id}" />`}
        ${options !== undefined && passkeyField}
        <input name="username" type="text" value="${email}" autocomplete="username" hidden readonly />
        ${isConfirmed ? html`<p role="status">You have confirmed it is you.</p>` : passwordField}
        ${(totp !== null || passkeys.length > 0) && codeField(factors, { isFirst: false, isRequired: options === undefined })}
        <button class="wide">${button}</button>
      </form>
      ${options !== undefined && passkeysMissing}
      ${isConnected && !isConfirmed && confirmForm(state, ownPath)} ${backToSecurity(returnTo)}`,
    ...(options !== undefined && { script: passkeyScript }),
  };
};

const nameField = (name: string): Html =>
  html`<label for="name">Name</label>
    <input id="name" name="name" maxlength="60" required value="${name}" autocomplete="off" autofocus />`;

/** Asks the browser to make a passkey. */
export const newPasskeyPage = (options: object, name: string, { token, returnTo }: FormState): Page => ({
  title: 'Add a passkey',
  body: html`<p role="alert"></p>
    <form method="post" action="${CONFIRM_PASSKEY_PATH}" hidden${toPasskeyAttribute({ create: options })}>
      ${token}<input type="hidden" name="returnTo" value="${returnTo}" />${passkeyField} ${nameField(name)}
      <small>By which you tell it from your others.</small>
      <button class="wide">Create the passkey</button>
    </form>
    ${passkeysMissing} ${backToSecurity(returnTo)}`,
  script: passkeyScript,
});

export const renamePasskeyPage = ({ id, name }: Passkey, { token, returnTo, fault }: FormState): Page => ({
  title: 'Rename the passkey',
  body: html`<p role="alert">${fault}</p>
    <form method="post" action="${RENAME_PASSKEY_PATH}">
      ${token}<input type="hidden" name="returnTo" value="${returnTo}" />
      <input type="hidden" name="id" value="${id}" />
      ${nameField(name)}
      <button class="wide">Save</button>
    </form>
    ${backToSecurity(returnTo)}`,
});
