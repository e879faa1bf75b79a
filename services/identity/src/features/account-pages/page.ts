import { hash } from 'node:crypto';

/*
 * Without a web app (APP_URL), mailed links lead to these two pages; each is one form for the API beside it. The pages
 * contain no data: the token stays in the fragment of the address, which browsers never send to a server, and the
 * script asks the API whose link it is.
 */

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --line: light-dark(#d0d7de, #3d444d);
  --quiet: light-dark(#59636e, #9198a1); --fault: light-dark(#b42318, #ff8a80); --accent: light-dark(#1f5fbf, #79aef5); }
body { margin: 0; background: light-dark(#fff, #0d1117); color: light-dark(#1f2328, #f0f6fc); }
main { max-width: 24rem; margin: clamp(2rem, 12vh, 8rem) auto; padding: 0 1.25rem; }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
.who { color: var(--quiet); white-space: pre-line; }
label { display: block; margin-top: 1.25rem; }
small { display: block; color: var(--quiet); }
input:not([type=checkbox]) { box-sizing: border-box; width: 100%; margin-top: .25rem; padding: .6rem .7rem; font: inherit;
  color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 6px; }
.show { display: flex; gap: .5rem; align-items: center; margin-top: .6rem; color: var(--quiet); }
button { margin-top: 1.5rem; width: 100%; padding: .65rem; font: inherit; font-weight: 600; cursor: pointer; color: #fff;
  background: light-dark(#1f5fbf, #2f6fd0); border: 0; border-radius: 6px; }
button:disabled { opacity: .6; cursor: default; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
[role=alert] { color: var(--fault); }
[role=alert]:empty, [hidden] { display: none; }
`;

/** The script's URLs are relative to the page, so that they work below any PUBLIC_URL. */
const script = `
const find = (selector) => document.querySelector(selector);
const form = find('form');
const intro = find('.who');
const fault = find('[role=alert]');
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
// Keep the secret out of the history and the address bar.
history.replaceState(null, '', location.pathname);

const post = (endpoint, body) => fetch(endpoint, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

function describe(error) {
  const details = (error?.details ?? []).map(({ field, message }) => field + ' ' + message);
  return [error?.message ?? 'That did not work', ...details].join(': ');
}

async function start() {
  if (token === '') {
    fault.textContent = 'This address has no link in it. Open the link from the e-mail again, in full.';
    return;
  }
  const answer = await post('links', { token });
  const body = await answer.json();
  if (!answer.ok || body.link.purpose !== form.dataset.purpose) {
    fault.textContent = describe(body.error ?? { message: 'This link is for another page: open it from the e-mail again' });
    return;
  }
  const { email, fullName, organisation } = body.link;
  intro.textContent = organisation + '\\n' + email;
  form.elements.username.value = email;
  if (form.elements.fullName) form.elements.fullName.value = fullName;
  form.hidden = false;
}

find('#show').addEventListener('change', ({ target }) => {
  form.elements.password.type = target.checked ? 'text' : 'password';
});

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = find('button');
  button.disabled = true;
  fault.textContent = '';
  try {
    const fields = ['fullName', 'password']
      .map((name) => [name, form.elements[name]?.value.trim() === '' ? '' : form.elements[name]?.value ?? ''])
      .filter(([, value]) => value !== '');
    const answer = await post(form.dataset.endpoint, { token, ...Object.fromEntries(fields) });
    if (answer.ok) {
      form.hidden = true;
      find('#done').hidden = false;
      find('#done').focus();
      return;
    }
    fault.textContent = describe((await answer.json()).error);
  } catch {
    fault.textContent = 'The platform can\\u2019t be reached. Try again later.';
  }
  button.disabled = false;
});

start().catch(() => {
  fault.textContent = 'The platform can\\u2019t be reached. Try again later.';
});
`;

const password = `<input name="username" autocomplete="username" hidden>
<label for="password">Password <small>8 characters or more</small></label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="256" required>
<label class="show"><input id="show" type="checkbox"> Show the password</label>`;

interface Page {
  readonly title: string;
  readonly purpose: string;
  readonly endpoint: string;
  readonly fields: string;
  readonly action: string;
  readonly done: string;
}

const escapeAttribute = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

const toPage = (
  { title, purpose, endpoint, fields, action, done }: Page,
  appUrl: string | undefined,
): string => {
  const onward =
    appUrl === undefined ? '' : `\n<p><a href="${escapeAttribute(appUrl)}/login">Go to the sign-in</a></p>`;
  return `<!doctype html>
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
<p class="who"></p>
<p role="alert"></p>
<form data-purpose="${purpose}" data-endpoint="${endpoint}" hidden>
${fields}
<button>${action}</button>
</form>
<div id="done" role="status" tabindex="-1" hidden>
<p>${done}</p>${onward}
</div>
<noscript>This page needs JavaScript.</noscript>
</main>
<script>${script}</script>
</body>
</html>
`;
};

const invitation: Page = {
  title: 'Accept the invitation',
  purpose: 'invitation',
  endpoint: 'invitations/accept',
  fields: `<label for="fullName">Your name</label>
<input id="fullName" name="fullName" autocomplete="name" maxlength="200">
${password}`,
  action: 'Accept the invitation',
  done: 'Welcome: your account is ready. Sign in with your e-mail address and this password.',
};

const reset: Page = {
  title: 'Choose a new password',
  purpose: 'password_reset',
  endpoint: 'password/reset',
  fields: password,
  action: 'Change the password',
  done: 'Your password is changed, and you are signed out everywhere. Sign in with the new one.',
};

/** @param appUrl - the web app whose sign-in page is linked at the end; undefined: there is no link. */
export const accountPages = (appUrl: string | undefined) => ({
  invite: toPage(invitation, appUrl),
  'reset-password': toPage(reset, appUrl),
});

const toSource = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;

/** The content security policy allows this script and style only, and requests to the platform only. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': `default-src 'none'; script-src ${toSource(script)}; style-src ${toSource(style)}; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
} as const;
