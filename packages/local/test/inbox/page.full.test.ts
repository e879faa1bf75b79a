import type { AddressInfo } from 'node:net';
import { type Browser, describeWith, launchBrowser, type Page } from '@platform/testing';
import { type Mailbox, openMailbox } from '../../src/inbox/mailbox.js';
import { createInboxWeb } from '../../src/inbox/web.js';
import { makeDataDir } from '../platform.js';

/* Tests the inbox page in a real browser, with a list that is longer than any window. */

const MAILS = 60;

describeWith('chromium', 'the page of the inbox', () => {
  let browser: Browser;
  let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
  let mailbox: Mailbox;
  let web: Awaited<ReturnType<typeof createInboxWeb>>;
  let page: Page;
  /** Errors of the page's script, and violations of its content policy. */
  const faults: string[] = [];

  const addMail = (subject: string) => {
    const html = `<p>${'Text of a letter. '.repeat(200)}</p>`;
    const raw = `Subject: ${subject}\r\nContent-Type: text/html\r\n\r\n${html}`;
    return mailbox.add({ from: 'from@example.com', to: ['to@example.com'], raw: Buffer.from(raw) });
  };

  beforeAll(async () => {
    browser = await launchBrowser();
    dataDir = await makeDataDir();
    mailbox = await openMailbox(dataDir.path);
    for (let count = 1; count <= MAILS; count += 1) await addMail(`Mail ${count}`);
    web = await createInboxWeb(mailbox);
    await web.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await browser.close();
    await web.close();
    await dataDir.remove();
  });

  async function open(width: number, height: number): Promise<void> {
    page = await browser.newPage({ viewport: { width, height }, reducedMotion: 'reduce' });
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    await page.goto(`http://127.0.0.1:${(web.server.address() as AddressInfo).port}/`);
    await mailButton('Mail 60').waitFor();
  }
  const mailButton = (subject: string) =>
    page.getByRole('navigation').getByRole('button', { name: new RegExp(`^${subject}\\b`) });

  /** Opens a mail, and expects that its beginning is in the window. */
  async function openMail(subject: string): Promise<void> {
    await mailButton(subject).click();
    const heading = page.getByRole('heading', { name: subject, exact: true });
    await heading.waitFor();
    const box = await heading.boundingBox();
    const { height = 0 } = page.viewportSize() ?? {};
    expect([subject, box !== null && box.y >= 0 && box.y + box.height <= height]).toEqual([subject, true]);
    await page.frameLocator('#body').getByText('Text of a letter.').waitFor();
  }

  test('on a desk, shows any mail of the list from its top, and a new mail without moving the focus', async () => {
    await open(1_280, 800);
    await openMail('Mail 1');
    expect(await page.evaluate('document.documentElement.scrollHeight <= window.innerHeight')).toBe(true);
    await page.evaluate('document.getElementById("mail").scrollTop = 10_000');
    await openMail('Mail 59');
    expect(await mailButton('Mail 59').getAttribute('aria-current')).toBe('true');
    expect(await mailButton('Mail 1').getAttribute('aria-current')).toBe('false');
    await mailButton('Mail 60').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Mail 60', exact: true }).waitFor();
    await addMail('Another');
    await mailButton('Another').waitFor();
    expect(await page.getByRole('status').textContent()).toBe(`${MAILS + 1} mails`);
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/^Mail 60to@/);
    expect(faults).toEqual([]);
  });

  test('on a phone, goes back to the same place in the list, and closes a mail that is deleted', async () => {
    await open(390, 844);
    await openMail('Mail 1');
    expect(await mailButton('Mail 1').isVisible()).toBe(false);
    expect(await page.evaluate('document.activeElement.id')).toBe('subject');
    await page.getByRole('button', { name: 'All mails' }).click();
    expect(await mailButton('Mail 1').isVisible()).toBe(true);
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/^Mail 1to@/);
    await openMail('Mail 60');
    await page.getByRole('button', { name: 'Delete all' }).click();
    await page.getByText('0 mails').waitFor();
    await page.getByRole('heading', { name: 'Mail 60', exact: true }).waitFor({ state: 'hidden' });
    expect(mailbox.list()).toHaveLength(0);
    expect(faults).toEqual([]);
  });
});
