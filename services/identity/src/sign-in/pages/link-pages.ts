import { html } from '../page-kit/html.js';
import type { Page } from '../page-kit/page.js';
import type { LinkResponse } from '../account-flows/schemas.js';
import type { LinkPurpose } from '../../mails/one-time-secrets/secret.js';
import { FORGOT_PATH, type FormState } from './pages.js';
import { SIGN_IN_PATH } from './paths.js';

/** The pages that mailed links lead to, by the purpose of the link. */
export const linkPages = {
  invitation: {
    path: `${SIGN_IN_PATH}/invite`,
    title: 'Accept the invitation',
    action: 'Accept the invitation',
  },
  password_reset: {
    path: `${SIGN_IN_PATH}/reset-password`,
    title: 'Choose a new password',
    action: 'Change the password',
  },
} as const satisfies Record<LinkPurpose, object>;

/*
 * A mailed link carries its secret in the fragment, which browsers never send to a server (AUTH-17). The script puts it
 * into the form and sends that. Without JavaScript, the person pastes the link.
 */
const openScript = `
const token = new URLSearchParams(location.hash.slice(1)).get('token');
// Keep the secret out of the history and the address bar.
history.replaceState(null, '', location.pathname);
if (token) {
  const form = document.querySelector('form');
  form.hidden = true;
  form.elements.token.value = token;
  form.submit();
}
`;

/** The page that a link opens first. */
export const openLinkPage = (
  purpose: LinkPurpose,
  { token, fault }: Pick<FormState, 'token' | 'fault'>,
): Page => {
  const { path, title } = linkPages[purpose];
  return {
    title,
    body: html`<p role="alert">${fault}</p>
      <form method="post" action="${path}">
        ${token}
        <label for="token">The link from the e-mail</label>
        <input id="token" name="token" autocomplete="off" maxlength="2048" required />
        <small>Open the link from the e-mail again, or paste it here in full.</small>
        <button class="wide">Continue</button>
      </form>`,
    script: openScript,
  };
};

const passwordScript = `
const show = document.querySelector('.check');
show.hidden = false;
show.addEventListener('change', ({ target }) => {
  document.querySelector('#password').type = target.checked ? 'text' : 'password';
});
`;

/** The page on which the owner of a valid link chooses a password. */
export const choosePasswordPage = (
  link: LinkResponse['link'],
  secret: string,
  { token, fault }: Pick<FormState, 'token' | 'fault'>,
): Page => {
  const { path, title, action } = linkPages[link.purpose];
  const nameField = html`<label for="fullName">Your name</label>
    <input id="fullName" name="fullName" autocomplete="name" maxlength="200" value="${link.fullName}" />`;
  return {
    title,
    organisation: link.organisation,
    body: html`<p class="quiet">${link.email}</p>
      <p role="alert">${fault}</p>
      <form method="post" action="${path}">
        ${token}
        <input type="hidden" name="token" value="${secret}" />
        <input name="username" type="text" value="${link.email}" autocomplete="username" hidden readonly />
        ${link.purpose === 'invitation' && nameField}
        <label for="password">Password</label>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="new-password"
          minlength="8"
          maxlength="256"
          required
          autofocus
        />
        <small>8 characters or more</small>
        <label class="check" hidden><input type="checkbox" /> Show the password</label>
        <button class="wide">${action}</button>
      </form>`,
    script: passwordScript,
  };
};

const invalidLinks = {
  invitation: {
    what: 'It was used, it has expired, or a newer one has been sent.',
    advice:
      'If you have accepted the invitation, sign in. If not, ask whoever has invited you for another link.',
  },
  password_reset: {
    what: 'It was used, or it has expired: it works once, for an hour.',
    advice: 'If you have chosen a new password with it, sign in. If not, ask for another link.',
  },
} as const satisfies Record<LinkPurpose, object>;

/** The page of a link that was used, has expired or was replaced: which of them, only its recipient knows. */
export const invalidLinkPage = (purpose: LinkPurpose): Page => {
  const { what, advice } = invalidLinks[purpose];
  return {
    title: 'This link does not work any more',
    body: html`<p role="alert">${what}</p>
      <p>${advice}</p>
      <p class="links">
        <a class="button" href="${SIGN_IN_PATH}">Sign in</a>
        ${purpose === 'password_reset' && html`<a class="button plain" href="${FORGOT_PATH}">Ask for another link</a>`}
        <a href="${linkPages[purpose].path}">Paste the link again</a>
      </p>`,
  };
};

export const passwordChangedPage: Page = {
  title: 'Your password is changed',
  body: html`<p role="status">You are signed out everywhere. Sign in with the new password.</p>
    <p class="links"><a href="${SIGN_IN_PATH}">Sign in</a></p>`,
};
