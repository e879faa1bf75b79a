import { readFile } from 'node:fs/promises';
import { describeWith } from '@platform/testing';
import { Secret, TOTP } from 'otpauth';
import { useConsole } from './console.js';

describeWith('chromium', 'the page of new recovery codes', () => {
  const using = useConsole();

  test('copies, saves and prints the codes', async () => {
    const member = await using.platform.createMember('Grace Hopper');
    const page = await using.open('/account', { as: member });
    await page.goto(`${using.platform.url}/sign-in/security?returnTo=/account`);
    await page.getByRole('link', { name: 'Set up an authenticator app' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('No camera?').waitFor();
    const key = ((await page.locator('code').first().textContent()) ?? '').replaceAll(' ', '');
    await page
      .getByRole('textbox', { name: 'Code' })
      .fill(new TOTP({ secret: Secret.fromBase32(key) }).generate());
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('heading', { name: 'Keep your recovery codes' }).waitFor();
    const codes = `${(await page.locator('.codes code').allTextContents()).join('\n')}\n`;
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(codes);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(await readFile(await file.path(), 'utf8')).toBe(codes);
    await page.evaluate('window.print = () => { document.title = "printed"; }');
    await page.getByRole('button', { name: 'Print' }).click();
    expect(await page.title()).toBe('printed');
  });
});
