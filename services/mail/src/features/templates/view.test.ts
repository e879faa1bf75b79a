import { readFileSync } from 'node:fs';
import { languages } from '../../generated/templates.js';
import { renderTemplate } from './render.js';
import { internalTemplateTypes } from './template-types.js';
import { createView } from './view.js';

const createTestView = (data: object, productName?: string) => {
  const result = createView('loginWithOTP', { otp: '1', ...data }, { productName });
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  return result.view;
};

const renderText = (data: object, productName?: string) =>
  renderTemplate('loginWithOTP', createTestView(data, productName)).text;

test.each([
  [{ companyName: 'Example' }, 'Atlas', 'Atlas', 'Example on Atlas', 'Sent by Atlas for Example.'],
  [{ orgName: 'Example' }, undefined, 'Example', 'Example', 'Sent by Example.'],
  [{}, 'Atlas', 'Atlas', 'Atlas', 'Sent by Atlas.'],
  [{}, undefined, 'Workspace', 'Workspace', 'Sent by Workspace.'],
])('data %j with the product name %j has the brand %j', (data, productName, product, place, footer) => {
  const text = renderText(data, productName);
  expect(text.startsWith(`${product}\n`)).toBe(true);
  expect(text).toContain(`sign in to ${place}:`);
  expect(text).toContain(`-- \n${footer}\n`);
});

test('numbers are accepted, and a missing name is left out of the greeting', () => {
  expect(renderText({ otp: 493817 })).toMatch(/\nHello,\n[^]*\n {4}493817\n/);
  expect(renderText({ name: 'Ada' })).toContain('\nHello Ada,\n');
  expect(renderText({ userName: '', name: 'Ada' })).toContain('\nHello Ada,\n');
});

test.each([
  ['loginWithOTP', {}, 'templateData.otp'],
  ['resetPassword', {}, 'templateData.resetLink'],
  ['appuserInvite', {}, 'templateData.inviteLink'],
  ['appuserInvite', { inviteLink: 'javascript:alert(1)' }, 'templateData.inviteLink'],
  ['appuserInvite', { link: '//host/path' }, 'templateData.link'],
  ['resetPassword', { resetLink: ' https://a.example/\u0001' }, 'templateData.resetLink'],
  ['loginWithOTP', { otp: 'x'.repeat(33) }, 'templateData.otp'],
  ['loginWithOTP', { otp: '1\n2' }, 'templateData.otp'],
  ['loginWithOTP', { otp: ['1'] }, 'templateData.otp'],
  ['loginWithOTP', { otp: 2 ** 60 }, 'templateData.otp'],
  ['loginWithOTP', { otp: Number.POSITIVE_INFINITY }, 'templateData.otp'],
  ['loginWithOTP', { otp: '1', userName: { toString: 'x' } }, 'templateData.userName'],
] as const)('%s with %j is a fault of %s', (type, data, field) => {
  const result = createView(type, data);
  expect('faults' in result && result.faults.map((fault) => fault.field)).toEqual([field]);
});

test('a link is escaped for URLs and for HTML', () => {
  const result = createView('appuserInvite', { link: 'https://a.example/"><script>?a=1&b=é' });
  if ('faults' in result) throw new Error('no view');
  expect(result.view.link).toBe('https://a.example/%22%3E%3Cscript%3E?a=1&b=%C3%A9');
  expect(renderTemplate('appuserInvite', result.view).html).toContain('?a=1&#38;b=%C3%A9');
});

test.each(languages.flatMap((language) => internalTemplateTypes.map((type) => [type, language] as const)))(
  '%s in %s renders as ASCII in short lines without unfilled slots, whatever the names',
  (type, language) => {
    const data = {
      userName: '李 Zoë',
      companyName: 'Näme',
      otp: '493817',
      link: 'https://app.example/x?token=abc',
      changedBy: 'Zoë (zoe@corp.example)',
      oldServer: 'smtp.corp.example:587, as noreply@corp.example',
      newServer: 'none',
      headline: 'A revoked token of yours was used',
      message: 'Somebody used the token “Zoë”, which has ended.',
      more: 'And 12 more.',
      items: [
        { name: 'Zoë’s <token>', end: 'expires on 2026-12-06' },
        { name: 'CI', end: 'has expired' },
      ],
    };
    const result = createView(type, data, { productName: 'Ätlas' });
    if ('faults' in result) throw new Error('no view');
    const { subject, html, text } = renderTemplate(type, result.view, language);
    expect(html).toMatch(/^[\n\x20-\x7e]+$/);
    expect(html).toContain(`<html lang="${language}"`);
    expect(Math.max(...html.split('\n').map((line) => line.length))).toBeLessThanOrEqual(76);
    expect(subject + html + text).not.toMatch(/\{\{|undefined/);
    expect(html).not.toMatch(/<(?:script|link|img)|@import|url\(/);
  },
);

test('a list is repeated for each of its items, escaped in HTML', () => {
  const items = [
    { name: 'a <b>', end: 'expires tomorrow' },
    { name: 'CI', end: 'has expired' },
  ];
  const result = createView('tokenExpiring', { headline: 'Tokens expire', items });
  if ('faults' in result) throw new Error('no view');
  const { html, text } = renderTemplate('tokenExpiring', result.view);
  expect(text).toContain('\na <b>\n  expires tomorrow\n\nCI\n  has expired\n');
  expect(html).toContain('a &#60;b&#62;');
});

test.each([
  [undefined, 'templateData.items'],
  [[], 'templateData.items'],
  ['x', 'templateData.items'],
  [Array.from({ length: 51 }, () => ({ name: 'a', end: 'b' })), 'templateData.items'],
  [[null], 'templateData.items.0.name'],
  [[{ name: 'a' }], 'templateData.items.0.end'],
  [[{ name: 'a\n', end: 'b\nc' }], 'templateData.items.0.end'],
])('items %j are a fault of %s', (items, field) => {
  const result = createView('tokenExpiring', { headline: 'x', items });
  expect('faults' in result && result.faults.map((fault) => fault.field)).toContain(field);
});

test('an invitation names the person who invites, when it is given', () => {
  const getInvitation = (data: object) => {
    const result = createView('appuserInvite', { link: 'https://a.example/', ...data });
    if ('faults' in result) throw new Error('no view');
    return renderTemplate('appuserInvite', result.view).text;
  };
  expect(getInvitation({ invitedBy: 'Grace' })).toContain('Grace has invited you to join');
  expect(getInvitation({})).toContain('You have been invited to join');
});

test('an alert has a button to the tokens only when it is given their page', () => {
  const render = (data: object) => {
    const result = createView('tokenAlert', { headline: 'A token', message: 'It was created.', ...data });
    if ('faults' in result) throw new Error('no view');
    return renderTemplate('tokenAlert', result.view);
  };
  const tokensLink = 'https://platform.example/account/tokens';
  const { html, text } = render({ tokensLink, ipAddress: '203.0.113.7' });
  expect(html.replaceAll(/\s+/g, ' ')).toContain(`href="${tokensLink}"`);
  expect(text).toContain(`\nAddress: 203.0.113.7\n\nSee the tokens: ${tokensLink}\n\n-- \n`);
  const bare = render({});
  expect(bare.html).not.toContain('href');
  expect(bare.text).toContain('\nIt was created.\n\n-- \n');
});

/** Returns the names of all texts of a language, each with the slots in it. */
function readTexts(language: string): Record<string, string[]> {
  const path = new URL(`../../../templates/texts/${language}.json`, import.meta.url);
  const groups = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Record<string, string>>;
  return Object.fromEntries(
    Object.entries(groups).flatMap(([group, texts]) =>
      Object.entries(texts).map(([name, text]) => [
        `${group}.${name}`,
        [...new Set(text.match(/\{\{[^}]+\}\}/g))].toSorted(),
      ]),
    ),
  );
}

test.each(languages)('%s has every text, with every slot', (language) => {
  expect(readTexts(language)).toEqual(readTexts('en'));
});

test.each([
  ['en', 10, '10 minutes'],
  ['en', 60, '1 hour'],
  ['en', 7 * 24 * 60, '7 days'],
  ['de', 10.9, '10 Minuten'],
  ['de', 119, '1 Stunde'],
  ['de', 7 * 24 * 60, '7 Tage'],
] as const)('in %s, %s minutes are %s', (language, validForMinutes, words) => {
  const result = createView('loginWithOTP', { otp: '1', validForMinutes }, { language });
  if ('faults' in result) throw new Error('no view');
  expect(result.view.validFor).toBe(words);
});
