// The page of the inbox: a list that renews itself, and the mail that was chosen.
const REFRESH_MS = 2_000;
const byId = (id) => document.getElementById(id);
let chosen;

function element(name, text, children = []) {
  const made = document.createElement(name);
  made.textContent = text;
  made.append(...children);
  return made;
}

function listItem(mail) {
  const when = new Date(mail.receivedAt).toLocaleTimeString();
  const button = element('button', mail.subject || '(no subject)', [
    element('small', `${mail.to.join(', ')} · ${when}`),
  ]);
  button.type = 'button';
  button.dataset.id = mail.id;
  button.setAttribute('aria-current', String(mail.id === chosen));
  button.addEventListener('click', () => void show(mail.id));
  return element('li', '', [button]);
}

const buttons = () => [...byId('mails').querySelectorAll('button')];
const isListShown = () => byId('mails').checkVisibility();

/** Marks the mail that is open, or none. */
function choose(id) {
  chosen = id;
  byId('mail').hidden = id === undefined;
  for (const button of buttons()) button.setAttribute('aria-current', String(button.dataset.id === id));
}

async function show(id) {
  const response = await fetch(`/api/mails/${id}`);
  if (!response.ok) return;
  const mail = await response.json();
  choose(id);
  byId('mail').scrollTop = 0;
  byId('subject').textContent = mail.subject || '(no subject)';
  const facts = [
    ['From', mail.from],
    ['To', mail.to.join(', ')],
    ['Received', new Date(mail.receivedAt).toLocaleString()],
  ];
  byId('facts').replaceChildren(
    ...facts.flatMap(([name, value]) => [element('dt', name), element('dd', value)]),
  );
  byId('attachments').replaceChildren(
    ...mail.attachments.map((attachment, index) => {
      const link = element('a', `${attachment.filename ?? 'attachment'} (${attachment.sizeBytes} bytes)`);
      link.href = `/api/mails/${id}/attachments/${index}`;
      return element('li', '', [link]);
    }),
  );
  byId('body').hidden = mail.html === null;
  if (mail.html !== null) byId('body').src = `/api/mails/${id}/html`;
  byId('text').textContent = mail.text ?? '';
  byId('raw').href = `/api/mails/${id}/raw`;
  // On a phone the list is gone, and the focus with it.
  if (!isListShown()) byId('subject').focus();
}

/** Goes back to the list, to the mail that was open. */
function goBack() {
  const opened = buttons().find((button) => button.dataset.id === chosen);
  choose(undefined);
  opened?.focus();
}

/** Shows new mails without taking the keyboard's focus away. */
function replaceList(mails) {
  const focused = document.activeElement?.dataset.id;
  byId('mails').replaceChildren(...mails.map(listItem));
  if (focused !== undefined)
    buttons()
      .find((button) => button.dataset.id === focused)
      ?.focus({ preventScroll: true });
}

let shown;

async function refresh() {
  try {
    const { mails } = await (await fetch('/api/mails')).json();
    const state = JSON.stringify(mails.map(({ id }) => id));
    byId('state').textContent = mails.length === 1 ? '1 mail' : `${mails.length} mails`;
    if (state !== shown) replaceList(mails);
    shown = state;
  } catch {
    byId('state').textContent = 'The platform does not answer.';
  }
}

async function clear() {
  await fetch('/api/mails', { method: 'DELETE' });
  choose(undefined);
  await refresh();
}

byId('clear').addEventListener('click', () => void clear());
byId('back').addEventListener('click', goBack);
setInterval(() => void refresh(), REFRESH_MS);
void refresh();
