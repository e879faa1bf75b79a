import { type Html, html } from '../page-kit/html.js';
import type { Page } from '../page-kit/page.js';
import type { SecondFactorState } from '../second-factor/schemas.js';
import type { FormState } from './pages.js';
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

/** Asks before a change, and for a factor when the account has one. */
export const proofPage = (
  change: Change,
  { totp, passkeys }: SecondFactorState,
  email: string,
  state: FormState & {
    readonly passkey?: Passkey | undefined;
    /** The options of the passkeys that can take the place of a code. */
    readonly options?: object | undefined;
  },
): Page => {
  const { path, title, button, text }: ChangeText = changes[change];
  const { token, returnTo, fault, passkey, options } = state;
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
        ${(totp !== null || passkeys.length > 0) && codeField(factors, { isFirst: true, isRequired: options === undefined })}
        <button class="wide">${button}</button>
      </form>
      ${options !== undefined && passkeysMissing} ${backToSecurity(returnTo)}`,
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
      <small>Tells it apart from your others.</small>
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
