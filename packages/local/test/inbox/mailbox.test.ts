import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMailbox } from '../../src/inbox/mailbox.js';
import { createInboxWeb } from '../../src/inbox/web.js';

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'mailbox-')), 'inbox');
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

const mail = (subject: string, content = 'Hello', type = 'text/plain') => ({
  from: 'noreply@example.com',
  to: ['ada@example.com'],
  raw: Buffer.from(`Subject: ${subject}\r\nContent-Type: ${type}\r\n\r\n${content}`),
});

test('lists the received mails after a restart, newest first', async () => {
  const before = await openMailbox(folder);
  await before.add(mail('First'));
  // Times in the list have millisecond precision.
  const [first] = before.list();
  while (new Date().toISOString() === first?.receivedAt) await Promise.resolve();
  await before.add(mail('Second'));

  const after = await openMailbox(folder);
  expect(after.list()).toEqual(before.list());
  expect(after.list().map(({ subject }) => subject)).toEqual(['Second', 'First']);
  const [newest] = after.list();
  if (!newest) throw new Error('the mailbox is empty');
  expect(await after.readRaw(newest)).toEqual(mail('Second').raw);
});

test('removes a half-written mail, and keeps the others', async () => {
  const before = await openMailbox(folder);
  await before.add(mail('Whole'));
  await writeFile(join(folder, 'half.eml'), 'Subject: Half');
  await writeFile(join(folder, 'half.part'), '{"id":"ha');
  await writeFile(join(folder, 'empty.eml'), '');
  await writeFile(join(folder, 'empty.json'), '');
  const after = await openMailbox(folder);
  expect(after.list().map(({ subject }) => subject)).toEqual(['Whole']);
  expect((await openMailbox(folder)).list()).toHaveLength(1);
  expect(await readdir(folder)).toHaveLength(2);
});

test('only the owner can read the files, and nothing of them is left once they are deleted', async () => {
  const mailbox = await openMailbox(folder);
  await mailbox.add(mail('Secret'));
  expect((await stat(folder)).mode & 0o077).toBe(0);
  for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o077).toBe(0);
  await mailbox.clear();
  expect(await readdir(folder)).toEqual([]);
  expect(mailbox.list()).toEqual([]);
});

test('deletes the oldest mails when there are more than 500', async () => {
  const mailbox = await openMailbox(folder);
  for (let index = 0; index <= 500; index += 1) await mailbox.add(mail(`Mail ${index}`));
  expect(mailbox.list()).toHaveLength(500);
  expect(mailbox.list().at(-1)?.subject).toBe('Mail 1');
  expect(await readdir(folder)).toHaveLength(1_000);
});

test.each([
  ['<!doctype html><html><head><title>A</title></head><body>Hi</body></html>'],
  ['<p>Only a part of a page</p>'],
])('shows %s in standards mode, without its scripts, to this machine only', async (html) => {
  const mailbox = await openMailbox(folder);
  await mailbox.add(mail('A', html, 'text/html'));
  const web = await createInboxWeb(mailbox);
  const url = `/api/mails/${mailbox.list()[0]?.id}/html`;
  const { body, headers } = await web.inject(url);
  // The parser chooses the mode by the beginning of the document.
  expect(body).toMatch(/^<!doctype html>/i);
  expect(body).toContain('<base target="_blank">');
  expect(headers['content-security-policy']).toMatch(/^sandbox .*default-src 'none'/);
  expect((await web.inject({ url, headers: { host: 'attacker.example' } })).statusCode).toBe(403);
  await web.close();
});
