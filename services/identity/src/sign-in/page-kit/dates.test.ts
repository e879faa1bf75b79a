import { createFormatDay } from './dates.js';

const at = new Date('2026-11-29T23:30:00Z');

test.each([
  ['de-DE,de;q=0.9,en;q=0.8', '29. November 2026'],
  ['en-US,en;q=0.9', 'November 29, 2026'],
  ['fr', '29 novembre 2026'],
  // Nothing that names a language.
  ['*', '29 November 2026'],
  ['', '29 November 2026'],
  ['not a language!', '29 November 2026'],
  [undefined, '29 November 2026'],
])('UI-18 a browser that asks for %s reads %s', (language, expected) => {
  expect(createFormatDay({ headers: { 'accept-language': language } })(at)).toBe(expected);
});
