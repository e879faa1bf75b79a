#!/usr/bin/env node
// Compiles templates/*.mjml and *.txt, with the texts of each language, to src/generated/templates.ts: functions that
// join literals and escaped values. MJML takes 60 MB and 250 ms to load, so it is needed here and never where mails are sent.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import mjml2html from 'mjml';

const names = [
  'loginWithOTP',
  'resetPassword',
  'accountCreation',
  'appuserInvite',
  'suspiciousLoginAttempt',
  'smtpServerChanged',
  'tokenAlert',
  'passwordChanged',
  'tokenExpiring',
  'crawlFailures',
];
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
  /** What ends each open tag. */
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
      expression += ` + (v.${condition} !== '' ? ''`;
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

async function compile(name) {
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
  return {
    name,
    html: normalizeTags(colored),
    text: await readFile(file(`templates/${name}.txt`), 'utf8'),
  };
}

/** @returns the source of the functions of one template in one language. */
function toSource({ name, html, text }, language, { common, [name]: own }) {
  const texts = { ...common, ...own, language };
  const filled = fill(html, texts, escapeHtml);
  if (/[^\n\r\t\x20-\x7e]/.test(filled)) throw new Error(`${name}.mjml must be ASCII: write entities`);
  const plain = fill(text, texts, (value) => value);
  return `    ${name}: {
      subject: (v) => ${toExpression(fill('{{subject}}', texts, (value) => value))},
      html: (v) => ${toExpression(wrap(filled))},
      text: (v) => ${toExpression(plain)},
    },
`;
}

const layouts = [];
for (const name of names) layouts.push(await compile(name));
const compiled = [];
for (const language of languages) {
  const texts = JSON.parse(await readFile(file(`templates/texts/${language}.json`), 'utf8'));
  compiled.push(
    `  ${language}: {\n`,
    ...layouts.map((layout) => toSource(layout, language, texts)),
    '  },\n',
  );
}
const toUnion = (set) =>
  [...set]
    .toSorted((a, b) => a.localeCompare(b))
    .map((name) => `'${name}'`)
    .join(' | ');
const source = `// Made by scripts/compile-templates.mjs from templates/. Do not edit.

export type Slot = ${toUnion(slots)};
export type List = ${toUnion(lists)};
export type ItemSlot = ${toUnion(itemSlots)};

/** The values of a template. A list is a part that is repeated for each of its items. */
export type TemplateValues = Readonly<Record<Slot, string>> &
  Readonly<Record<List, readonly Readonly<Record<ItemSlot, string>>[]>>;

interface CompiledTemplate {
  readonly subject: (v: TemplateValues) => string;
  /** The values must be escaped for HTML. */
  readonly html: (v: TemplateValues) => string;
  readonly text: (v: TemplateValues) => string;
}

export const languages = [${languages.map((language) => `'${language}'`).join(', ')}] as const;
export type Language = (typeof languages)[number];

export const compiledTemplates = {
${compiled.join('')}} as const satisfies Record<Language, Record<string, CompiledTemplate>>;
`;
await mkdir(file('src/generated'), { recursive: true });
await writeFile(file('src/generated/templates.ts'), source);
