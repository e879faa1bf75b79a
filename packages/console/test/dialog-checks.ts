import { type Page, waitFor } from '@platform/testing';
import { findBarriersInThemes, waitForContent } from './console.js';
import { waitForDialog, waitForFocus } from './focus.js';

const WIDTHS = [1280, 320];
const HEIGHT = 640;

/** Says what of the dialog that is open sticks out of the window. What scrolls on its own is scrolled to. */
const FIND_OVERFLOW = `(() => {
  const faults = [document.documentElement, ...document.querySelectorAll('.modal, [role=dialog]')]
    .filter((box) => box.scrollWidth > box.clientWidth)
    .map((box) => (box.className || box.nodeName) + ' is ' + box.scrollWidth + ' wide in ' + box.clientWidth);
  for (const button of [...document.querySelectorAll('[role=dialog]')].at(-1).querySelectorAll('button')) {
    if (!button.checkVisibility()) continue;
    button.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    const { left, right, top, bottom } = button.getBoundingClientRect();
    // A pixel may be in two parts.
    if (left < -0.5 || right > innerWidth + 0.5 || top < -0.5 || bottom > innerHeight + 0.5)
      faults.push('the button ' + button.textContent + ' is outside');
  }
  return faults;
})()`;

/** Returns what sticks out of a dialog or cannot be reached, and leaves the page as narrow as a phone. */
async function findOverflow(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    for (const fault of await page.evaluate<string[]>(FIND_OVERFLOW)) faults.push(`at ${width}: ${fault}`);
  }
  return faults;
}

/** Notes each key after which the focus is not in the newest dialog. */
const WATCH_FOCUS = `{
  window.leaks = [];
  let step = 0;
  const note = () => {
    step += 1;
    const dialog = [...document.querySelectorAll('[role=dialog]')].at(-1);
    if (!dialog?.contains(document.activeElement)) window.leaks.push(step);
  };
  window.watch?.abort();
  window.watch = new AbortController();
  addEventListener('keyup', (event) => event.key === 'Tab' && note(), { capture: true, signal: window.watch.signal });
}`;

/** Goes by Tab over the beginning of a dialog and over its end. @returns the steps at which the focus was outside. */
export async function findFocusLeaks(page: Page): Promise<number[]> {
  await waitForDialog(page);
  await page.evaluate(WATCH_FOCUS);
  for (const key of ['Shift+Tab', 'Tab'])
    for (let step = 0; step < 6; step += 1) await page.keyboard.press(key);
  return page.evaluate<number[]>('window.watch.abort(), window.leaks');
}

/** Leaves the dialog by Escape, and waits until the focus is back where it came from. */
export async function leaveDialog(page: Page, opener: string): Promise<void> {
  await page.keyboard.press('Escape');
  const question = page.locator('[role=alertdialog]');
  const isOver = async () =>
    (await question.count()) > 0 || (await page.locator('[role=dialog]').count()) === 0;
  await waitFor(isOver, { what: 'the end of the dialog, or the question' });
  // What is typed in it is not discarded without a question.
  if ((await question.count()) > 0) await question.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await waitForFocus(page, opener);
}

/** Waits for a dialog. @returns the title of the newest. */
export async function readTitle(page: Page): Promise<string> {
  const heading = page.getByRole('dialog').last().getByRole('heading').first();
  return (await heading.textContent()) ?? '';
}

/** Expects that the dialog that is open fits a phone, keeps the focus, and is accessible in both themes. */
export async function expectSoundDialog(page: Page): Promise<void> {
  const title = await readTitle(page);
  await waitForContent(page);
  const found = [
    title,
    await findOverflow(page),
    await findFocusLeaks(page),
    await findBarriersInThemes(page, '[role=dialog]'),
  ];
  expect(found).toEqual([title, [], [], []]);
  await page.setViewportSize({ width: 1280, height: 800 });
}
