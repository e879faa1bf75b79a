import { AppError } from '@platform/service-kit';
import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { type Html, html } from '../page-kit/html.js';

/** The options of `navigator.credentials.get` or `create`, as JSON, which a form passes to a passkey before it is submitted. */
export type PasskeyRequest = { readonly get: object } | { readonly create: object };

/*
 * A form with `data-passkey` is sent with what a passkey has signed, in its field `passkey`, unless a code was typed into
 * it. A form that is no use without passkeys is hidden until the script finds that the browser has them.
 */
export const passkeyScript = `
const { PublicKeyCredential: api } = window;
const isSupported = typeof api?.parseCreationOptionsFromJSON === 'function';
const read = ({ get, create }) => create
  ? navigator.credentials.create({ publicKey: api.parseCreationOptionsFromJSON(create) })
  : navigator.credentials.get({ publicKey: api.parseRequestOptionsFromJSON(get) });
for (const form of document.querySelectorAll('form[data-passkey]')) {
  const { passkey, code } = form.elements;
  if (isSupported) form.hidden = false;
  form.addEventListener('submit', async (event) => {
    if (!isSupported || passkey.value || code?.value) return;
    event.preventDefault();
    const fault = document.querySelector('[role=alert]');
    fault.textContent = '';
    try {
      passkey.value = JSON.stringify(await read(JSON.parse(form.dataset.passkey)));
      form.requestSubmit(event.submitter);
    } catch (error) {
      fault.textContent = error.name === 'InvalidStateError'
        ? 'This device has a passkey of your account already.'
        : 'No passkey was used. Try again, or use a code.';
    }
  });
}
for (const note of document.querySelectorAll('[data-no-passkeys]')) {
  note.hidden = isSupported;
  note.textContent = 'This browser cannot use passkeys here.';
}
`;

/*
 * The form with `data-passkey-alone` is sent with what any passkey of the device has signed: by its button, or when one is chosen
 * among what the browser fills into the field of the address. It is hidden until the script finds that the browser has passkeys.
 */
export const passkeySignInScript = `
const { PublicKeyCredential: api } = window;
const form = document.querySelector('form[data-passkey-alone]');
const fault = document.querySelector('[role=alert]');
let waiting;
const ask = async (how) => {
  const publicKey = api.parseRequestOptionsFromJSON(JSON.parse(form.dataset.passkeyAlone));
  form.elements.passkey.value = JSON.stringify(await navigator.credentials.get({ publicKey, ...how }));
  form.submit();
};
const offer = async () => {
  if (!(await api.isConditionalMediationAvailable?.())) return;
  waiting = new AbortController();
  await ask({ mediation: 'conditional', signal: waiting.signal }).catch(() => undefined);
};
if (typeof api?.parseRequestOptionsFromJSON === 'function') {
  form.hidden = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    fault.textContent = '';
    waiting?.abort();
    await ask({}).catch(() => {
      fault.textContent = 'No passkey was used. Try again, or use your password.';
      offer();
    });
  });
  offer();
}
`;

/** The attribute and the field of a form that a passkey completes. */
export const toPasskeyAttribute = (request: PasskeyRequest): Html =>
  html` data-passkey="${JSON.stringify(request)}"`;
export const passkeyField = html`<input type="hidden" name="passkey" autocomplete="off" />`;

/** Says why there is no form for passkeys, where there is none. The script hides it, or says more. */
export const passkeysMissing = html`<p class="quiet" data-no-passkeys>Passkeys need JavaScript.</p>`;

/** Reads the field of a form. @throws AppError 400 when it is not what browsers make. */
export function readPasskey<S extends TSchema>(schema: S, text: string | undefined): Static<S> | undefined {
  if (text === undefined || text === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (Value.Check(schema, value)) return value;
  throw new AppError({
    status: 400,
    code: 'PASSKEY_INVALID',
    message: 'Your browser sent something else than a passkey',
  });
}
