import { en } from './en.ts';

/**
 * The texts that the whole console shares. Another language is another file of the same shape, chosen here, and a folder
 * like `en/`, chosen by `imports` in package.json.
 */
export const text = en;

/** The language of dates and numbers, the same as that of the texts. */
export const LOCALE = 'en';
