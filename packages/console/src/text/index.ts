import { en } from './en.ts';

/** The texts of the console. Another language is another file of the same shape, chosen here. */
export const text = en;

/** The language of dates and numbers, the same as that of the texts. */
export const LOCALE = 'en';
