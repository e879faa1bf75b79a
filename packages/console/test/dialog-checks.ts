import { type Page, waitFor } from '@platform/testing';
import { findBarriersInLooks, LOOKS_OF_DIALOGS, waitForContent } from './console.js';
import { waitForDialog, waitForFocus } from './focus.js';

const WIDTHS = [1280, 390, 320];
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

/** Returns what sticks out of a dialog or cannot be reached, at every width. */
export async function findOverflow(page: Page): Promise<string[]> {
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

/** Goes once around a dialog by Tab, and back by a few steps. @returns the steps at which the focus was outside. */
export async function findFocusLeaks(page: Page): Promise<number[]> {
  await waitForDialog(page);
  const selector = '[role=dialog] :is(a, button, input, textarea, [tabindex])';
  const steps = Math.min(await page.evaluate<number>(`document.querySelectorAll('${selector}').length`), 20);
  await page.evaluate(WATCH_FOCUS);
  for (let step = 1; step <= steps + 6; step += 1)
    await page.keyboard.press(step <= steps + 2 ? 'Tab' : 'Shift+Tab');
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

/** Examines the dialog that is open in every way, and leaves it. @param opener - the name of what opened it. */
export async function examineDialog(page: Page, opener: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await waitForContent(page);
  const title = (await dialog.getByRole('heading').first().textContent()) ?? '';
  const found = [
    title,
    await findOverflow(page),
    await findFocusLeaks(page),
    await findBarriersInLooks(page, '[role=dialog]', LOOKS_OF_DIALOGS),
  ];
  expect(found).toEqual([title, [], [], []]);
  await page.setViewportSize({ width: 1280, height: 800 });
  await leaveDialog(page, opener);
}
