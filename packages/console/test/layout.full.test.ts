import { describeWith } from '@platform/testing';
import { getLayoutShift, useConsole, waitForContent } from './console.js';

/** The dialogs that an address opens, such as from the search. */
const ADDRESSES = [
  '/account/tokens?do=new',
  '/organisation/members?do=new',
  '/organisation/groups?do=new',
  '/organisation/service-accounts?do=new',
  '/organisation/applications?do=new',
  '/organisation/mcp-servers?do=new',
  '/activity/destinations?do=new',
  '/crawls?do=new',
  '/crawls/endpoints?do=new',
  '/mails/suppressions?do=new',
] as const;

describeWith('chromium', 'a dialog that an address opens', () => {
  const using = useConsole();

  test.each(ADDRESSES)('UI-54 of %s moves nothing that is shown already', async (address) => {
    const shifts: Record<number, number> = {};
    for (const width of [360, 1280]) {
      const page = await using.open(address, { width });
      await page.getByRole('dialog').waitFor();
      await waitForContent(page);
      shifts[width] = await getLayoutShift(page);
    }
    for (const [width, shift] of Object.entries(shifts)) expect({ width, shift: shift < 0.1 || shift }).toEqual({ width, shift: true }); // oxfmt-ignore
  });
});
