import { type Page, waitFor } from '@platform/testing';
import { findBarriers, waitForContent } from './console.js';
import { hasFocus, waitForDialog, waitForFocus } from './focus.js';

const WIDTHS = [1280, 390, 320];
const HEIGHT = 640;

/** Returns what sticks out of a dialog or cannot be reached, at every width. */
export async function findOverflow(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    const sideways = await page.evaluate<string[]>(
      `[document.documentElement, ...document.querySelectorAll('.modal, [role=dialog]')]
        .filter((box) => box.scrollWidth > box.clientWidth)
        .map((box) => (box.className || box.nodeName) + ' is ' + box.scrollWidth + ' wide in ' + box.clientWidth)`,
    );
    faults.push(...sideways.map((fault) => `at ${width}: ${fault}`));
    for (const button of await page.getByRole('dialog').last().getByRole('button').all()) {
      // A row of a table that scrolls on its own is reached there.
      await button.scrollIntoViewIfNeeded();
      const box = await button.boundingBox();
      const isInside =
        box && box.x >= 0 && box.x + box.width <= width && box.y >= 0 && box.y + box.height <= HEIGHT;
      if (!isInside) faults.push(`at ${width}: the button ${await button.innerText()} is outside`);
    }
  }
  return faults;
}

/** Goes once around a dialog by Tab, and back by a few steps. @returns the steps at which the focus was outside. */
export async function findFocusLeaks(page: Page): Promise<number[]> {
  await waitForDialog(page);
  const selector = '[role=dialog] :is(a, button, input, textarea, [tabindex])';
  const steps = await page.evaluate<number>(`document.querySelectorAll('${selector}').length`);
  const leaks: number[] = [];
  for (let step = 1; step <= Math.min(steps, 20) + 6; step += 1) {
    await page.keyboard.press(step <= Math.min(steps, 20) + 2 ? 'Tab' : 'Shift+Tab');
    if (!(await hasFocus(page.getByRole('dialog').last()))) leaks.push(step);
  }
  return leaks;
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

/** Each width and each theme once: what axe finds depends on the one or the other. */
const LOOKS = [
  [1280, 'light'],
  [390, 'dark'],
  [320, 'light'],
] as const;

/** Runs axe on the page in its looks, and leaves it as it was. */
async function findBarriersInLooks(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const [width, colorScheme] of LOOKS) {
    await page.setViewportSize({ width, height: HEIGHT });
    await page.emulateMedia({ colorScheme });
    for (const fault of await findBarriers(page)) faults.push(`at ${width}, ${colorScheme}: ${fault}`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  return faults;
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
    await findBarriersInLooks(page),
  ];
  expect(found).toEqual([title, [], [], []]);
  await leaveDialog(page, opener);
}
