import type { AddressInfo } from 'node:net';
import { type Browser, describeWith, launchBrowser, type Page } from '@platform/testing';
import { type Mailbox, openMailbox } from '../../src/inbox/mailbox.js';
import { createInboxWeb } from '../../src/inbox/web.js';
import { makeDataDir } from '../platform.js';

/* Tests the inbox page in a real browser, with a list that is longer than any window. */

const MAILS = 60;
const sizes = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

describeWith('chromium', 'the page of the inbox', () => {
  let browser: Browser;
  let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
  let mailbox: Mailbox;
  let web: Awaited<ReturnType<typeof createInboxWeb>>;
  let page: Page;
  /** Errors of the page's script, and violations of its content policy. */
  let faults: string[];

  const addMail = (subject: string) => {
    const html = `<p>${'Text of a letter. '.repeat(200)}</p>`;
    const raw = `Subject: ${subject}\r\nContent-Type: text/html\r\n\r\n${html}`;
    return mailbox.add({ from: 'from@example.com', to: ['to@example.com'], raw: Buffer.from(raw) });
  };

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  beforeEach(async () => {
    dataDir = await makeDataDir();
    mailbox = await openMailbox(dataDir.path);
    for (let count = 1; count <= MAILS; count += 1) await addMail(`Mail ${count}`);
    web = await createInboxWeb(mailbox);
    await web.listen({ host: '127.0.0.1', port: 0 });
  });
  afterEach(async () => {
    await page.close();
    await web.close();
    await dataDir.remove();
    if (faults.length > 0) throw new Error(faults.join('\n'));
  });

  async function open(size: keyof typeof sizes): Promise<void> {
    faults = [];
    page = await browser.newPage({ viewport: sizes[size], reducedMotion: 'reduce' });
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    await page.goto(`http://127.0.0.1:${(web.server.address() as AddressInfo).port}/`);
    await mailButton('Mail 60').waitFor();
  }
  const mailButton = (subject: string) =>
    page.getByRole('navigation').getByRole('button', { name: new RegExp(`^${subject}\\b`) });
  const heading = (subject: string) => page.getByRole('heading', { name: subject, exact: true });

  /** Returns whether an element is completely inside the window. */
  async function isInWindow(subject: string): Promise<boolean> {
    const box = await heading(subject).boundingBox();
    const { height = 0 } = page.viewportSize() ?? {};
    return box !== null && box.y >= 0 && box.y + box.height <= height;
  }

  test.each(['desk', 'phone'] as const)('shows a mail from the end of the list on a %s', async (size) => {
    await open(size);
    await mailButton('Mail 1').click();
    await heading('Mail 1').waitFor();
    expect(await isInWindow('Mail 1')).toBe(true);
    const body = page.frameLocator('#body').getByText('Text of a letter.');
    await body.waitFor();
    expect(await page.evaluate('document.documentElement.scrollHeight <= window.innerHeight')).toBe(true);
  });

  test('a mail opened after another one is shown from its top', async () => {
    await open('desk');
    await mailButton('Mail 60').click();
    await heading('Mail 60').waitFor();
    await page.evaluate('document.getElementById("mail").scrollTop = 10_000');
    await mailButton('Mail 59').click();
    await heading('Mail 59').waitFor();
    expect(await isInWindow('Mail 59')).toBe(true);
    expect(await mailButton('Mail 59').getAttribute('aria-current')).toBe('true');
    expect(await mailButton('Mail 60').getAttribute('aria-current')).toBe('false');
  });

  test('going back on a phone returns to the same place in the list', async () => {
    await open('phone');
    await mailButton('Mail 1').click();
    await heading('Mail 1').waitFor();
    expect(await mailButton('Mail 1').isVisible()).toBe(false);
    expect(await page.evaluate('document.activeElement.id')).toBe('subject');
    await page.getByRole('button', { name: 'All mails' }).click();
    expect(await mailButton('Mail 1').isVisible()).toBe(true);
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/^Mail 1to@/);
  });

  test('a new mail appears in the list without moving the focus', async () => {
    await open('desk');
    await mailButton('Mail 60').focus();
    await page.keyboard.press('Enter');
    await heading('Mail 60').waitFor();
    await addMail('Another');
    await mailButton('Another').waitFor();
    expect(await page.getByRole('status').textContent()).toBe(`${MAILS + 1} mails`);
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/^Mail 60to@/);
  });

  test('deleting all mails closes the open one', async () => {
    await open('phone');
    await mailButton('Mail 60').click();
    await heading('Mail 60').waitFor();
    await page.getByRole('button', { name: 'Delete all' }).click();
    await page.getByText('0 mails').waitFor();
    await heading('Mail 60').waitFor({ state: 'hidden' });
    expect(mailbox.list()).toHaveLength(0);
  });
});
