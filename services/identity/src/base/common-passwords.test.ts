import { findPasswordFault } from './common-passwords.js';

const owner = {
  email: 'ada.lovelace@engines.example',
  fullName: 'Ada Lovelace',
  organisation: 'Analytical Engines',
};

test.each([
  ['password', 'the most common one'],
  ['12345678', 'digits alone'],
  ['PassWord', 'in another case'],
  ['Password1!', 'with a digit and a sign'],
  ['123summer2026', 'with digits on both sides'],
  ['ｐａｓｓｗｏｒｄ', 'in letters of another width'],
  ['p@ssw0rd', 'with letters replaced'],
])('AUTH-68: "%s" is refused: %s', (password) => {
  expect(findPasswordFault(password, owner)).toMatch(/tried first/);
});

test.each([
  ['ada.lovelace', 'the local part of the address'],
  ['ada.lovelace1815', 'the same with a year'],
  ['engines.example', 'the domain'],
  ['ada.lovelace@engines.example', 'the address'],
  ['AdaLovelace!', 'the name'],
  ['analytical-engines', 'the organisation'],
  ['Analytical99', 'a word of the organisation'],
])('AUTH-69: "%s" is refused: %s', (password) => {
  expect(findPasswordFault(password, owner)).toMatch(/must not be a name/);
});

test.each([
  'correct-horse-battery',
  'lovelace and the engine of the moon',
  'summer has come late this year',
  'xK4-9qLw',
  'summer-20260706-1131',
  '7e1d0c9b',
  'пароль-для-всех-нас',
])('AUTH-68: "%s" is accepted', (password) => {
  expect(findPasswordFault(password, owner)).toBeUndefined();
});

test('AUTH-69: what the platform does not know of an account is no word', () => {
  expect(findPasswordFault('xK4-9qLw', { email: '', fullName: '', organisation: '' })).toBeUndefined();
});
