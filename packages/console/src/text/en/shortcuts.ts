import { createTexts } from '../isolate.ts';

/** What the keyboard can do. */
export const shortcuts = createTexts({
  jump: 'Search, or jump to a screen, a thing or an action',
  keys: [
    ['?', 'Show this list'],
    ['↑ ↓', 'Go through the results of a search, or a menu'],
    ['Enter', 'Open the row or the result'],
    ['Esc', 'Close what is open'],
  ] as readonly (readonly [keys: string, what: string])[],
});
