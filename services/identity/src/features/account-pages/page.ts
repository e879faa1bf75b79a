import { hash } from 'node:crypto';

/*
 * The two pages that mailed links lead to where there is no web app (APP_URL): one form each, for the
 * API beside it. No template data gets into them: the token stays in the address, for the script to read.
 */

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 24rem; margin: 12vh auto; padding: 0 1.25rem; }
label { display: block; margin-top: 1rem; }
input { box-sizing: border-box; width: 100%; padding: .6rem; font: inherit; }
button { margin-top: 1.5rem; width: 100%; padding: .7rem; font: inherit; cursor: pointer; }
[role=status] { margin-top: 1rem; min-height: 1.5em; }
`;

/** Relative to the page, so that it works below any PUBLIC_URL. */
const script = `
const form = document.querySelector('form');
const status = document.querySelector('[role=status]');
const token = new URLSearchParams(location.search).get('token') ?? '';
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = form.querySelector('button');
  button.disabled = true;
  status.textContent = '';
  try {
    const fields = [...new FormData(form)].filter(([, value]) => value !== '');
    const answer = await fetch(form.dataset.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, ...Object.fromEntries(fields) }),
    });
    const body = await answer.json();
    if (answer.ok) {
      history.replaceState(null, '', location.pathname);
      form.hidden = true;
      status.textContent = form.dataset.done;
      return;
    }
    const details = (body.error?.details ?? []).map(({ field, message }) => field + ' ' + message);
    status.textContent = [body.error?.message ?? 'That did not work', ...details].join(': ');
  } catch {
    status.textContent = 'The platform can\\u2019t be reached: try again later.';
  }
  button.disabled = false;
});
`;

const password = `<label>Password, 8 characters or more
<input name="password" type="password" autocomplete="new-password" minlength="8" maxlength="256" required></label>`;

const pageOf = (title: string, endpoint: string, done: string, fields: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<form data-endpoint="${endpoint}" data-done="${done}">
${fields}
<button>${title}</button>
</form>
<p role="status"></p>
<noscript>This page needs JavaScript.</noscript>
</main>
<script>${script}</script>
</body>
</html>
`;

export const invitationPage = pageOf(
  'Accept the invitation',
  'invitations/accept',
  'Welcome: your account is ready. You can log in with your e-mail address and this password.',
  `<label>Your name, if it isn’t right yet
<input name="fullName" autocomplete="name" maxlength="200"></label>
${password}`,
);

export const resetPage = pageOf(
  'Choose a new password',
  'password/reset',
  'Your password is changed, and you are logged out everywhere. You can log in with the new one.',
  password,
);

const sourceOf = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;

/** Only this script and style run, and the page talks to the platform alone. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  // The address holds the token.
  'referrer-policy': 'no-referrer',
  'content-security-policy': `default-src 'none'; script-src ${sourceOf(script)}; style-src ${sourceOf(style)}; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
} as const;
