import { ChevronIcon } from '../../ui/icons.tsx';
import type { Target } from './target.ts';

/** The buttons that act on what a page is about: those of its header, and those that end or remove it. */
const BUTTONS = 'main > .page-header .actions button, main > .section .settings > li > button.warn';

/** Returns what can be done with what is on the screen. It is done by the button of the page, with all that this asks. */
export const listPageActions = (): readonly Target[] =>
  [...document.querySelectorAll<HTMLButtonElement>(BUTTONS)]
    .filter((button) => !button.disabled && button.ariaHasPopup !== 'menu')
    .flatMap((button, index) => {
      const label = button.textContent.trim();
      if (label === '') return [];
      const run = (): void => {
        // A dialog that the button opens gives the focus back to it.
        button.focus();
        button.click();
      };
      return [{ id: `page ${index}`, label, icon: ChevronIcon, run }];
    });
