import { describeWith, type Page } from '@platform/testing';
import { findBarriers, useConsole } from './console.js';

/** Ends in a neutral character, which would take the direction of the words around the name. */
const HEBREW = 'שרה';
const NAME = `${HEBREW}!`;

/** Returns where the given parts of a text are painted, from left to right. */
const measureOrder = (page: Page, selector: string, parts: readonly string[]) =>
  page
    .locator(selector)
    .first()
    .evaluate((element, searched) => {
      const nodes: Text[] = [];
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) nodes.push(walker.currentNode as Text);
      // No function here has a name: the loader of the tests would refer to its own helper for that.
      const found = searched.map((part) => {
        const node = nodes.find(({ data }) => data.includes(part));
        if (!node) throw new Error(`There is no ${part}.`);
        const range = document.createRange();
        range.setStart(node, node.data.indexOf(part));
        range.setEnd(node, node.data.indexOf(part) + part.length);
        return { part, left: range.getBoundingClientRect().left };
      });
      return found.toSorted((one, other) => one.left - other.left).map(({ part }) => part);
    }, parts);

describeWith('chromium', 'names from right to left', () => {
  const using = useConsole();

  beforeAll(() =>
    using.platform.call('POST', '/api/v1/personal-access-tokens', { name: NAME, scopes: ['crawl:read'] }),
  );

  test('keep their own order in a list', async () => {
    const page = await using.open('/account/tokens');
    await page.getByRole('row', { name: NAME }).waitFor();
    expect(await measureOrder(page, 'tbody [role=rowheader]', [HEBREW, '!'])).toEqual(['!', HEBREW]);
  });

  test('keep their own order in a question, and leave its words where they are', async () => {
    const page = await using.open('/account/tokens');
    await page.getByRole('row', { name: NAME }).getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    await page.getByRole('dialog').waitFor();
    const words = ['Revoke', '!', HEBREW, '?'];
    expect(await measureOrder(page, '[role=dialog] :is(h2, h3)', [...words].toReversed())).toEqual(words);
    expect(await findBarriers(page)).toEqual([]);
  });
});
