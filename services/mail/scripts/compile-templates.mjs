#!/usr/bin/env node
// Compiles the layouts templates/*.mjml and *.txt, with the texts of each language, to src/generated/templates.ts:
// functions that join literals and escaped values. MJML takes 60 MB and 250 ms to load, so it is needed here and never where mails are sent.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import mjml2html from 'mjml';

/** The layout of each template. */
const layoutNames = {
  loginWithOTP: 'code',
  resetPassword: 'link',
  accountCreation: 'link',
  appuserInvite: 'link',
  suspiciousLoginAttempt: 'event',
  passwordChanged: 'event',
  smtpServerChanged: 'event',
  tokenAlert: 'event',
  tokenExpiring: 'event',
  crawlFailures: 'event',
  connectedService: 'event',
  smtpTest: 'event',
};
const languages = ['en', 'de'];
const file = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const slots = new Set();
const lists = new Set();
const itemSlots = new Set();

/**
 * The longest line of the HTML. A part in ASCII with short lines is sent as it is (7bit), which saves the work and the
 * size of quoted-printable.
 */
const MAX_LINE = 76;
/** The assumed width of a slot's value. A longer value only means that the part has to be encoded. */
const SLOT_WIDTH = 28;
const LINK_WIDTH = 60;

/** Colours of the templates, in whose place a brand may have others. MJML accepts colours only. */
const COLORS = { '#2f5bd7': '{{accent}}', '#fefefe': '{{onAccent}}' };

/** The templates' formatter puts spaces and line breaks into tags. */
const normalizeTags = (source) =>
  source.replace(/\{\{\s*([^}]+?)\s*\}\}/g, (_tag, words) => `{{${words.replace(/\s+/g, ' ')}}}`);

const wrap = (html) =>
  html
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .flatMap((line) => wrapLine(line))
    .join('\n');

const escapeHtml = (text) => text.replace(/[&<>]|[^\x20-\x7e]/gu, (char) => `&#${char.codePointAt(0)};`);

/** Puts the texts of a language in place of their names. They may contain others, and slots. */
const fill = (source, texts, escape) =>
  source.replace(/\{\{(\w+)\}\}/g, (tag, name) =>
    Object.hasOwn(texts, name) ? fill(escape(texts[name]), texts, escape) : tag,
  );

/** Breaks a line where whitespace has no effect: at spaces, between style declarations, before the end of a tag. */
function wrapLine(line) {
  const pieces = line.split(/(?<= )(?![^{]*\}\})|(?<=;)(?=[a-z-]+:)|(?<=")(?=>)/);
  const lines = [];
  let current = '';
  for (const piece of pieces) {
    if (current !== '' && getWidth(current + piece) > MAX_LINE) {
      lines.push(current.trimEnd());
      current = '';
    }
    current += piece;
  }
  return [...lines, current.trimEnd()];
}

const getWidth = (text) =>
  text
    .replaceAll('{{link}}', '-'.repeat(LINK_WIDTH))
    .replace(/\{\{[\w.]+\}\}/g, '-'.repeat(SLOT_WIDTH))
    .trimEnd().length;

/**
 * Translates `{{slot}}`, `{{#if slot}}…{{else}}…{{/if}}` and `{{#each list}}…{{item.slot}}…{{/each}}` into the source of an
 * expression over `v`.
 */
function toExpression(source) {
  const tokens = source.split(/(\{\{[^}]+\}\})/);
  /** The end of each open tag. */
  const ends = [];
  let expression = "''";
  for (const token of tokens) {
    const [, condition] = /^\{\{#if\s+(\w+)\}\}$/.exec(token) ?? [];
    const [, slot] = token === '{{else}}' ? [] : (/^\{\{(\w+)\}\}$/.exec(token) ?? []);
    const [, list] = /^\{\{#each\s+(\w+)\}\}$/.exec(token) ?? [];
    const [, itemSlot] = /^\{\{item\.(\w+)\}\}$/.exec(token) ?? [];
    if (condition || slot) slots.add(condition ?? slot);
    if (list) lists.add(list);
    if (itemSlot) itemSlots.add(itemSlot);
    if (list) {
      ends.push(`).join('')`);
      expression += ` + v.${list}.map((item) => ''`;
    } else if (itemSlot) expression += ` + item.${itemSlot}`;
    else if (condition) {
      ends.push(` : '')`);
      expression += ` + (v.${condition}.length > 0 ? ''`;
    } else if (token === '{{else}}') {
      ends.splice(-1, 1, ')');
      expression += ` : ''`;
    } else if (token === '{{/if}}' || token === '{{/each}}') expression += ends.pop();
    else if (slot) expression += ` + v.${slot}`;
    else if (token.startsWith('{{')) throw new Error(`unknown tag ${token}`);
    else if (token !== '') expression += ` + ${JSON.stringify(token)}`;
  }
  if (ends.length !== 0) throw new Error('an {{#if}} or {{#each}} is not closed');
  return expression;
}

async function readLayout(name) {
  const path = file(`templates/${name}.mjml`);
  const { html, errors } = await mjml2html(await readFile(path, 'utf8'), {
    filePath: path,
    validationLevel: 'strict',
    // Without this, opening a mail would fetch fonts from a third party.
    fonts: {},
    ignoreIncludes: false,
    keepComments: false,
  });
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join('\n'));
  const colored = Object.entries(COLORS).reduce((all, [color, slot]) => all.replaceAll(color, slot), html);
  return { html: normalizeTags(colored), text: await readFile(file(`templates/${name}.txt`), 'utf8') };
}

const toFunction = (text) => `(v) => ${toExpression(text)}`;
const toPlain = (text, texts) => toFunction(fill(text, texts, (value) => value));
const toObject = (entries) => `{${entries.map(([key, source]) => `${key}: ${source},\n`).join('')}}`;
const mapObject = (object, map) =>
  toObject(Object.entries(object).map(([key, value]) => [key, map(value, key)]));

/** @returns the source of the functions of one template in one language. */
function toSource(name, { html, text }, language, { common, templates }) {
  const texts = { ...common, ...templates[name], language };
  const filled = fill(html, texts, escapeHtml);
  if (/[^\n\r\t\x20-\x7e]/.test(filled)) throw new Error(`${name} must be ASCII: write entities`);
  return toObject([
    ['subject', toPlain('{{subject}}', texts)],
    ['html', toFunction(wrap(filled))],
    ['text', toPlain(text, texts)],
  ]);
}

const layouts = {};
for (const name of new Set(Object.values(layoutNames))) layouts[name] = await readLayout(name);
const byLanguage = {};
for (const language of languages)
  byLanguage[language] = JSON.parse(await readFile(file(`templates/texts/${language}.json`), 'utf8'));
const forEachLanguage = (map) => mapObject(byLanguage, map);
const templateSources = forEachLanguage((texts, language) =>
  mapObject(layoutNames, (layout, name) => toSource(name, layouts[layout], language, texts)),
);
const noticeSources = forEachLanguage(({ common, notices }) =>
  mapObject(notices, (notice) => mapObject(notice, (text) => toPlain(text, common))),
);
const stateSources = forEachLanguage(({ common, states }) =>
  mapObject(states, (text) => toPlain(text, common)),
);
const toNames = (names) =>
  `[${[...names]
    .toSorted((a, b) => a.localeCompare(b))
    .map((name) => `'${name}'`)
    .join(', ')}] as const`;
const source = `// Made by scripts/compile-templates.mjs from templates/. Do not edit.

export const slots = ${toNames([...slots].filter((name) => !lists.has(name)))};
export type Slot = (typeof slots)[number];
const lists = ${toNames(lists)};
const itemSlots = ${toNames(itemSlots)};
export type Item = Readonly<Record<(typeof itemSlots)[number], string>>;

/** The values of a template. A list is a part that is repeated for each of its items. */
export type TemplateValues = Readonly<Record<Slot, string>> &
  Readonly<Record<(typeof lists)[number], readonly Item[]>>;

type Text = (v: TemplateValues) => string;

interface CompiledTemplate {
  readonly subject: Text;
  /** The values must be escaped for HTML. */
  readonly html: Text;
  readonly text: Text;
}

export const languages = [${languages.map((language) => `'${language}'`).join(', ')}] as const;
export type Language = (typeof languages)[number];

export const compiledTemplates = ${templateSources} as const satisfies Record<Language, Record<string, CompiledTemplate>>;

export const noticeCodes = ${toNames(Object.keys(byLanguage.en.notices))};
export type NoticeCode = (typeof noticeCodes)[number];

/** The headline of an event, what happened, and what to do. */
export interface NoticeTexts {
  readonly headline?: Text;
  readonly message?: Text;
  readonly advice?: Text;
}
export const noticeTexts: Readonly<Record<Language, Readonly<Record<NoticeCode, NoticeTexts>>>> = ${noticeSources};

export const stateCodes = ${toNames(Object.keys(byLanguage.en.states))};
export type StateCode = (typeof stateCodes)[number];
export const stateTexts: Readonly<Record<Language, Readonly<Record<StateCode, Text>>>> = ${stateSources};
`;
await mkdir(file('src/generated'), { recursive: true });
await writeFile(file('src/generated/templates.ts'), source);
