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
  button.setAttribute('aria-current', String(mail.id === chosen));
  button.addEventListener('click', () => void show(mail.id));
  return element('li', '', [button]);
}

async function show(id) {
  const response = await fetch(`/api/mails/${id}`);
  if (!response.ok) return;
  const mail = await response.json();
  chosen = id;
  byId('mail').hidden = false;
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
  await refresh();
}

let shown;

async function refresh() {
  try {
    const { mails } = await (await fetch('/api/mails')).json();
    const state = JSON.stringify([mails.map(({ id }) => id), chosen]);
    byId('state').textContent = mails.length === 1 ? '1 mail' : `${mails.length} mails`;
    // Replacing a list that is the same would take the keyboard's focus away.
    if (state !== shown) byId('mails').replaceChildren(...mails.map(listItem));
    shown = state;
  } catch {
    byId('state').textContent = 'The platform does not answer.';
  }
}

async function clear() {
  await fetch('/api/mails', { method: 'DELETE' });
  chosen = undefined;
  byId('mail').hidden = true;
  await refresh();
}

byId('clear').addEventListener('click', () => void clear());
setInterval(() => void refresh(), REFRESH_MS);
void refresh();
