import { DISPLAY_NAME_PATTERN, DISPLAY_TEXT_PATTERN, isDisplayName, isDisplayText } from './display-name.js';

test.each([
  'Ada Lovelace',
  "O'Brien-Smith, Jr.",
  '山田 太郎',
  'مریم\u200cسادات',
  '👩\u200d💻 bots',
  'é',
  '-',
])('accepts %j as a name', (text) => {
  expect(isDisplayName(text)).toBe(true);
});

test.each([
  '',
  ' ',
  '\u00a0\u3000',
  'a\nb',
  'a\tb',
  'a\u0000b',
  'a\u007fb',
  'a\u0085b',
  'a\u2028b',
  'safe\u202egnp.exe',
  '\u2066a\u2069',
  'a\u200fb',
  '\u061ca',
  '\u200b',
  '\u200b\ufeff\u2060 \u00ad',
  '\u3164',
  '\u2800',
  '\u{e0041}\u{e0042}',
  'a\ud800',
])('rejects %j as a name', (text) => {
  expect(isDisplayName(text)).toBe(false);
});

test.each(['தமிழ்', 'ქართული', 'বাংলা', 'አማርኛ', 'Հայերեն', 'ಕನ್ನಡ', 'ខ្មែរ', '🙂', '\u0301', 'e\u0301', '𞤀𞤣𞤤𞤢𞤥', '🏴\u{e0067}\u{e007f}'])(
  'accepts the name %j, as the document does',
  (name) => {
    expect([isDisplayName(name), new RegExp(DISPLAY_NAME_PATTERN).test(name)]).toEqual([true, true]);
  },
); // oxfmt-ignore

/** All characters but lone surrogates and most of the planes that are unassigned or for private use. */
const characters = [[0, 0xd7ff], [0xe000, 0x3_23ff], [0xd_fff0, 0xe_100f], [0x10_fff0, 0x10_ffff]].flatMap(([first = 0, last = 0]) =>
  Array.from({ length: last - first + 1 }, (_value, index) => [first + index, String.fromCodePoint(first + index)] as const),
); // oxfmt-ignore

/** Clients compile patterns with and without the flag. */
const flags = ['', 'u'] as const;

test.each(flags)('the documented patterns are the rules, for each character (flags %j)', (flag) => {
  const [name, text] = [DISPLAY_NAME_PATTERN, DISPLAY_TEXT_PATTERN].map((pattern) => new RegExp(pattern, flag));
  const differing: string[] = [];
  for (const [code, character] of characters) {
    for (const value of [character, ` ${character}`, `a${character}`, `${character}a`])
      if (name?.test(value) !== isDisplayName(value) || text?.test(value) !== isDisplayText(value))
        differing.push(`U+${code.toString(16)}`);
  }
  // Invisible ones beyond U+FFFF, alone: no portable pattern has them.
  expect([...new Set(differing)].filter((code) => !/^U\+(1bca[0-3]|1d17[3-9a]|e....|f....|10....)$/.test(code))).toEqual([]);
}); // oxfmt-ignore

test('the rules agree with Unicode on what is invisible', () => {
  const invisible = /[\p{Cc}\p{Z}\p{Default_Ignorable_Code_Point}\p{Co}\u2800]/u;
  const wrong: string[] = [];
  for (const [code, character] of characters) {
    if (invisible.test(character) && isDisplayName(character)) wrong.push(`U+${code.toString(16)}`);
    if (/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(character) && !invisible.test(character) && !isDisplayName(character))
      wrong.push(`U+${code.toString(16)}`);
  }
  expect(wrong).toEqual([]);
}); // oxfmt-ignore
