import { DISPLAY_NAME_PATTERN, isDisplayName } from './display-name.js';

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

test('what the documented pattern allows is a display name', () => {
  const documented = new RegExp(DISPLAY_NAME_PATTERN);
  for (const name of ['Ada', 'Zoë 1', '張偉', 'Дмитрий', 'राम', 'نور'])
    expect([name, documented.test(name), isDisplayName(name)]).toEqual([name, true, true]);
  for (let code = 0; code < 0xd800; code += 1)
    for (const name of [`a${String.fromCharCode(code)}`, String.fromCharCode(code)])
      if (documented.test(name) && !isDisplayName(name)) throw new Error(`U+${code.toString(16)}`);
});
