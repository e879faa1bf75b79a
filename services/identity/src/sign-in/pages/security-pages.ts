import type { FormatDay } from '../page-kit/dates.js';
import { type Html, html } from '../page-kit/html.js';
import type { Page } from '../page-kit/page.js';
import type { SecondFactorState } from '../second-factor/schemas.js';
import type { FormState } from './pages.js';
import { SIGN_IN_PATH, toSignInPath } from './paths.js';

/** The own second factor, for a browser that is signed in. */
export const SECURITY_PATH = `${SIGN_IN_PATH}/security`;

/** The changes of the second factor. Each needs a confirmed session, and a factor when the account has one. */
export const changes = {
  setUp: { path: `${SECURITY_PATH}/set-up`, title: 'Set up an authenticator app', button: 'Continue' },
  renewCodes: {
    path: `${SECURITY_PATH}/recovery-codes`,
    title: 'Create new recovery codes?',
    text: 'Your current codes stop working at once.',
    button: 'Create new codes',
  },
  remove: {
    path: `${SECURITY_PATH}/remove`,
    title: 'Remove the authenticator app?',
    text: 'Its codes do not sign you in any more.',
    button: 'Remove the app',
  },
  addPasskey: {
    path: `${SECURITY_PATH}/passkeys/add`,
    title: 'Add a passkey',
    text: 'With a passkey, you confirm a sign-in with this device, your phone or a security key.',
    button: 'Continue',
  },
  removePasskey: {
    path: `${SECURITY_PATH}/passkeys/remove`,
    title: 'Remove this passkey?',
    text: 'It does not sign you in any more. Your device may go on offering it until you delete it there.',
    button: 'Remove the passkey',
  },
} as const;
export type Change = keyof typeof changes;

export const CONFIRM_PATH = `${SECURITY_PATH}/confirm`;
export const CONFIRM_PASSKEY_PATH = `${SECURITY_PATH}/passkeys/confirm`;
export const RENAME_PASSKEY_PATH = `${SECURITY_PATH}/passkeys/rename`;

export type Passkey = SecondFactorState['passkeys'][number];

/** A link that looks like a button, for what the page is there for. */
const buttonLink = (path: string, returnTo: string, text: string): Html =>
  html`<p><a class="button plain" href="${toSignInPath(returnTo, path)}">${text}</a></p>`;

const link = (path: string, returnTo: string, text: string, passkey?: Passkey): Html => {
  const href = `${toSignInPath(returnTo, path)}${passkey ? `&id=${passkey.id}` : ''}`;
  // Screen readers distinguish links with the same text by their labels.
  return html`<a href="${href}" ${passkey !== undefined && html` aria-label="${text} ${passkey.name}"`}
    >${text}</a
  >`;
};

interface Shown {
  readonly returnTo: string;
  readonly formatDay: FormatDay;
}

const showApp = ({ totp, passkeys, isRequired }: SecondFactorState, { returnTo, formatDay }: Shown): Html =>
  totp
    ? html`<div class="entry">
        <p>Set up on ${formatDay(new Date(totp.createdAt))}</p>
        <p class="links">
          ${link(changes.setUp.path, returnTo, 'Replace')}
          ${(!isRequired || passkeys.length > 0) && link(changes.remove.path, returnTo, 'Remove')}
        </p>
      </div>`
    : buttonLink(changes.setUp.path, returnTo, 'Set up an authenticator app');

const showPasskey = (
  passkey: Passkey,
  { totp, passkeys, isRequired }: SecondFactorState,
  { returnTo, formatDay }: Shown,
): Html =>
  html`<li class="entry">
    <p>
      <strong>${passkey.name}</strong>
      <small>
        Added on
        ${formatDay(new Date(passkey.createdAt))}${passkey.lastUsedAt !== null && `, last used on ${formatDay(new Date(passkey.lastUsedAt))}`}
      </small>
    </p>
    <p class="links">
      ${link(RENAME_PASSKEY_PATH, returnTo, 'Rename', passkey)}
      ${(!isRequired || totp !== null || passkeys.length > 1) && link(changes.removePasskey.path, returnTo, 'Remove', passkey)}
    </p>
  </li>`;

/** Shows the own second factor, and leads to what can be done about it. */
export const securityPage = (
  state: SecondFactorState,
  email: string,
  { returnTo, fault, done, formatDay }: Shown & Pick<FormState, 'fault'> & { readonly done?: string },
): Page => {
  const { totp, passkeys, canAddPasskey, recoveryCodesLeft, isRequired } = state;
  const hasFactor = totp !== null || passkeys.length > 0;
  return {
    title: 'Second factor',
    body: html`<p class="quiet">${email}</p>
      <p role="status">${done}</p>
      <p role="alert">${fault}</p>
      <p>
        ${!hasFactor && 'With a second factor, nobody can sign in with your password alone.'}
        ${isRequired && 'Your organisation requires a second factor.'}
      </p>
      ${
        (canAddPasskey || passkeys.length > 0) &&
        html`<h2>Passkeys</h2>
          ${
            passkeys.length > 0 &&
            html`<ul class="entries">
              ${passkeys.map((passkey) => showPasskey(passkey, state, { returnTo, formatDay }))}
            </ul>`
          }
          ${canAddPasskey && buttonLink(changes.addPasskey.path, returnTo, 'Add a passkey')}`
      }
      <h2>Authenticator app</h2>
      ${showApp(state, { returnTo, formatDay })}
      ${
        hasFactor &&
        html`<h2>Recovery codes</h2>
          <div class="entry">
            <p>Codes left: ${recoveryCodesLeft}</p>
            <p class="links">${link(changes.renewCodes.path, returnTo, 'Create new ones')}</p>
          </div>`
      }
      <p class="links end"><a href="${returnTo}">Back</a></p>`,
  };
};
