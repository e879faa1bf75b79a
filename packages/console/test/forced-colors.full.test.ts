import { describeWith, type Page, waitFor } from '@platform/testing';
import { useConsole, waitForContent } from './console.js';
import { SCREENS } from './screen-list.js';

/** What a person sees of an element, apart from its text. */
const LOOK = `(element) => {
  const { backgroundColor, backgroundImage, borderTopColor, color, outlineStyle } = getComputedStyle(element);
  const before = getComputedStyle(element, '::before').content;
  return [backgroundColor, backgroundImage, borderTopColor, color, outlineStyle, before].join(' ');
}`;

/** Waits for the first of them: what is chosen may depend on an answer that is under way. */
const lookOf = (page: Page, selector: string) =>
  waitFor(
    () =>
      page.evaluate<string | null>(`(() => {
        const element = document.querySelector(${JSON.stringify(selector)});
        return element && (${LOOK})(element);
      })()`),
    { what: `an element ${selector}` },
  );

describeWith('chromium', 'forced colours and reduced motion', () => {
  const using = useConsole();

  beforeAll(async () => {
    const { call } = using.platform;
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'Europe/Berlin' };
    await call('POST', '/api/v1/crawlingManager/wiki_1/schedule', { scheduleConfig });
    await call('POST', '/api/v1/crawlingManager/wiki_1/run');
    await using.platform.createMember('Ada Lovelace');
  });

  async function open(path: string, theme: 'light' | 'dark' = 'light'): Promise<Page> {
    const page = await using.open(path, { theme });
    await waitForContent(page);
    await page.emulateMedia({ forcedColors: 'active' });
    return page;
  }

  const expectTold = async (page: Page, chosen: string, other: string): Promise<void> => {
    expect([chosen, await lookOf(page, chosen)]).not.toEqual([chosen, await lookOf(page, other)]);
  };

  test.each(['light', 'dark'] as const)(
    'UI-6 with forced colours (%s), what is chosen or has the focus is told from what is not',
    async (theme) => {
      const page = await open('/account/tokens', theme);
      await expectTold(page, 'nav a[aria-current=page]', 'nav a:not([aria-current])');
      await page.getByRole('button', { name: 'New token' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Laptop');
      await expectTold(page, '.card[data-selected]', '.card:not([data-selected])');
      await expectTold(page, '[data-selected] > .box', ':not([data-selected]) > .box');
      await expectTold(page, 'input[data-focused]', 'textarea:not([data-focused])');
      await page.getByRole('button', { name: /Expires after/ }).click();
      await page.keyboard.press('ArrowDown');
      await expectTold(page, '[role=option][data-focused]', '[role=option]:not([data-focused])');
      await expectTold(page, '[role=option][data-selected]', '[role=option]:not([data-selected], [data-focused])');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Create token' }).click();
      await page.getByRole('tab').first().waitFor();
      await expectTold(page, '[role=tab][data-selected]', '[role=tab]:not([data-selected])');
    },
  ); // prettier-ignore

  test('UI-6 with forced colours, filters and the outcomes of runs are told apart', async () => {
    const page = await open('/mails');
    await expectTold(page, '.react-aria-ToggleButton[data-selected]', '.react-aria-ToggleButton:not([data-selected])');
    const looks = await page.evaluate<string[]>(`(() => {
      const marks = document.createElement('span');
      marks.className = 'marks';
      document.body.append(marks);
      return ['good', 'bad', 'notice', 'busy', 'neutral'].map((tone) => {
        const mark = document.createElement('i');
        mark.dataset.tone = tone;
        marks.append(mark);
        return (${LOOK})(mark);
      });
    })()`);
    expect(new Set(looks).size).toBe(looks.length);
  }); // prettier-ignore

  test.each(SCREENS.map(([path]) => path))(
    'UI-6 on %s, every stop of the keyboard is seen with forced colours, and nothing moves by itself',
    async (path) => {
      const page = await open(path);
      const stops: string[] = [];
      for (let step = 0; step < 30; step += 1) {
        await page.keyboard.press('Tab');
        const unseen = await page.evaluate<string | null>(`(() => {
          const element = document.activeElement;
          if (element === document.body || element.nodeName === 'IFRAME') return null;
          const box = element.closest('label')?.querySelector('.box') ?? element;
          const hasRing = [element, box].some((one) => getComputedStyle(one).outlineStyle !== 'none');
          return hasRing ? null : element.outerHTML.slice(0, 120);
        })()`);
        if (unseen !== null) stops.push(unseen);
      }
      expect(stops).toEqual([]);
      await waitFor(async () => (await page.evaluate('document.getAnimations().length')) === 0, {
        what: 'the end of all movement',
      });
      const moving = await page.evaluate<string[]>(`[...document.querySelectorAll('*')]
        .filter((one) => parseFloat(getComputedStyle(one).transitionDuration) > 0.016 || getComputedStyle(one).scrollBehavior === 'smooth')
        .map((one) => one.outerHTML.slice(0, 80))`);
      expect(moving).toEqual([]);
    },
  );
});
