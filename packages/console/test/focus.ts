import type { Locator } from 'playwright-core';
import { type Page, waitFor } from '@platform/testing';

const MAX_STOPS = 120;

/** The name of what has the focus, as it is announced; `row` for the link of a row. */
const getFocus = (page: Page) =>
  page.evaluate<string>(`(() => {
    const { activeElement } = document;
    if (activeElement === document.body) return 'nothing';
    if (activeElement.matches('tr .opener')) return 'row';
    return (activeElement.getAttribute('aria-label') ?? activeElement.textContent).trim();
  })()`);

export const waitForFocus = (page: Page, name: string) =>
  waitFor(async () => (await getFocus(page)) === name, { what: `the focus on ${name}` });

export const waitForAnyFocus = (page: Page) =>
  waitFor(async () => (await getFocus(page)) !== 'nothing', { what: 'a focus' });

export const hasFocus = (locator: Locator) =>
  locator.evaluate((element) => element.contains(document.activeElement));

/** Waits until the focus is in the element, such as the field with which a dialog begins. */
export const waitForFocusIn = (locator: Locator) =>
  waitFor(() => hasFocus(locator), { what: `the focus in ${String(locator)}` });

/** Waits until a dialog is open, over any other, and takes what is typed. */
export const waitForDialog = (page: Page) => waitForFocusIn(page.getByRole('dialog').last());

/** Goes on by Tab until the focus is there, which proves that it is in the order of the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let stops = 0; (await getFocus(page)) !== name; stops += 1) {
    if (stops > MAX_STOPS) throw new Error(`Tab does not lead to ${name}`);
    await page.keyboard.press('Tab');
  }
}

/** Goes to a button or a link by Tab, and presses it. */
export async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

/** Goes through a menu, or the tabs of a list, by an arrow until the focus is there. */
export async function arrowTo(page: Page, arrow: 'ArrowDown' | 'ArrowRight', name: string): Promise<void> {
  await waitForFocusIn(page.locator(arrow === 'ArrowDown' ? '[role=menu]' : '[role=tablist]'));
  for (let steps = 0; (await getFocus(page)) !== name; steps += 1) {
    if (steps > 20) throw new Error(`${arrow} does not lead to ${name}, but to ${await getFocus(page)}`);
    await page.keyboard.press(arrow);
  }
}
