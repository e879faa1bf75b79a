import { reveal } from './reveal.ts';

test.each([
  ['plain text, "quoted"\n\tand indented: é 漢 🔍', 'plain text, "quoted"\n\tand indented: é 漢 🔍'],
  ['zero\u200Bwidth', 'zero\\u{200B}width'],
  ['turned \u202Eround', 'turned \\u{202E}round'],
  ['tag \u{E0041}', 'tag \\u{E0041}'],
  ['bell \u0007', 'bell \\u{7}'],
])('shows what is hidden in %j', (text, shown) => {
  expect(reveal(text)).toBe(shown);
});
