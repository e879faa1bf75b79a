import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMailbox } from '../../src/inbox/mailbox.js';
import { createInboxWeb } from '../../src/inbox/web.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailbox-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test.each([
  ['<!doctype html><html><head><title>A</title></head><body>Hi</body></html>'],
  ['<p>Only a part of a page</p>'],
])('%s is shown in standards mode, and its links open in a new tab', async (html) => {
  const mailbox = await openMailbox(folder);
  const raw = Buffer.from(`Subject: A\r\nContent-Type: text/html\r\n\r\n${html}`);
  await mailbox.add({ from: 'a@example.com', to: ['b@example.com'], raw });
  const web = await createInboxWeb(mailbox);
  const { body } = await web.inject(`/api/mails/${mailbox.list()[0]?.id}/html`);
  // The parser chooses the mode by the beginning of the document.
  expect(body).toMatch(/^<!doctype html>/i);
  expect(body).toContain('<base target="_blank">');
  await web.close();
});
