import { readFileSync } from 'node:fs';
import { languages, noticeCodes, stateCodes } from '../../generated/templates.js';
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
      notice: 'tokenReused',
      name: 'Zoë’s <token>',
      hidden: 12,
      items: [
        { name: 'Zoë’s <token>', state: 'expires', expiresAt: '2026-12-06' },
        { name: 'CI', state: 'neverExpires' },
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
    { name: 'a <b>', state: 'expires', expiresAt: '2026-12-06T08:00:00.000Z' },
    { name: 'CI', state: 'neverExpires', account: 'deployer' },
  ];
  const result = createView('tokenExpiring', { notice: 'tokensExpire', count: 2, items });
  if ('faults' in result) throw new Error('no view');
  const { html, text } = renderTemplate('tokenExpiring', result.view);
  expect(text).toContain(
    '\na <b>\n  expires on 6 December 2026 at 08:00 UTC\n\nCI\n  service account deployer, never expires\n',
  );
  expect(html).toContain('a &#60;b&#62;');
});

test.each([
  [[], 'templateData.items'],
  ['x', 'templateData.items'],
  [Array.from({ length: 51 }, () => ({ name: 'a', state: 'rotated' })), 'templateData.items'],
  [[null], 'templateData.items.0.name'],
  [[{ name: 'a' }], 'templateData.items.0.state'],
  [[{ name: 'a', state: 'b' }], 'templateData.items.0.state'],
  [[{ name: 'a', state: 'rotated', time: 'c\nd' }], 'templateData.items.0.time'],
])('items %j are a fault of %s', (items, field) => {
  const result = createView('tokenExpiring', { notice: 'tokensExpire', items });
  expect('faults' in result && result.faults.map((fault) => fault.field)).toEqual(
    expect.arrayContaining([field]),
  );
});

const factsOfNotices = {
  name: 'CI',
  owner: 'Zoë',
  by: 'Ada (ada@corp.example)',
  account: 'deployer',
  application: 'Agent',
  limit: 10,
  days: 90,
  domain: 'corp.example',
  email: 'a@corp.example',
  issuer: 'https://id.example',
  scopes: 'SEND_MAIL',
  topic: 'tokenCreated',
  reason: 'A leak.',
  items: stateCodes.map((state) => ({ name: 'CI', state, expiresAt: '2026-12-06' })),
};
/** The digests, whose own codes have headlines alone. */
const withoutHeadline: readonly string[] = ['tokenExpiring', 'crawlFailures'];

test.each(languages.flatMap((language) => noticeCodes.map((notice) => [notice, language] as const)))(
  'the notice %s in %s is put into whole sentences, about one thing and about several',
  (notice, language) => {
    for (const count of [1, 3]) {
      const result = createView('tokenExpiring', { ...factsOfNotices, notice, count }, { language });
      if ('faults' in result) throw new Error(JSON.stringify(result.faults));
      const { headline, message, advice, preview, items } = result.view;
      expect(headline).toMatch(withoutHeadline.includes(notice) ? /^$/ : /^\p{Lu}|^\d/u);
      expect(headline + message + advice).not.toMatch(/  | [.,:]|„“|““|undefined/);
      expect(`${message} ${advice}`.trim()).toMatch(/[.:]$/);
      expect(preview).toMatch(/^\p{Lu}/u);
      for (const { end } of items) expect(end).not.toBe('');
    }
  },
);

test.each([
  ['en', '2026-12-06', '6 December 2026'],
  ['en', '2026-12-06T08:05:59.123Z', '6 December 2026 at 08:05 UTC'],
  ['de', '2026-12-06T08:05Z', '6. Dezember 2026 um 08:05 UTC'],
  ['de', 'gestern', 'gestern'],
  ['de', '2026-13-45', '2026-13-45'],
] as const)('in %s, the time %s is %s', (language, time, words) => {
  const result = createView('passwordChanged', { time }, { language });
  if ('faults' in result) throw new Error('no view');
  expect(result.view.time).toBe(words);
});

/** Returns the names of all texts of a language, each with the slots in it. */
function readTexts(language: string): unknown {
  const path = new URL(`../../../templates/texts/${language}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, 'utf8'), (_name, value: unknown) =>
    typeof value === 'string' ? [...new Set(value.match(/\{\{[^}]+\}\}/g))].toSorted() : value,
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
