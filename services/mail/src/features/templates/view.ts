import { type FaultDetail, parseUrl } from '@platform/service-kit';
import {
  type Item,
  type Language,
  type NoticeCode,
  noticeCodes,
  noticeTexts,
  type NoticeTexts,
  type Slot,
  slots,
  type StateCode,
  stateCodes,
  stateTexts,
  type TemplateValues,
} from '../../generated/templates.js';
import type { Brand } from '../brand/brand.js';
import { hasItems, type InternalTemplateType } from './template-types.js';
import {
  controlCharacter,
  findKeys,
  itemSources,
  linkStart,
  listSources,
  type Source,
  sources,
} from './sources.js';

/** The unescaped values for the slots of a template. A part of the template whose value is empty is left out. */
export type View = TemplateValues;

type ReadResult = { readonly value: string } | { readonly fault: FaultDetail };

function readLink(value: string, field: string): ReadResult {
  const url = linkStart.test(value) ? parseUrl(value) : undefined;
  return url
    ? { value: url.href }
    : { fault: { field, message: 'must be a link that starts with https:// or http://' } };
}

/** Rejects larger numbers, because JSON.parse may have rounded them. */
const isExact = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;

function readValue(given: unknown, { kind, maxLength }: Source, field: string): ReadResult {
  if (isExact(given) && kind !== 'link') return { value: String(given) };
  if (typeof given !== 'string') return { fault: { field, message: 'must be a text' } };
  if (given.length > maxLength && Array.from(given).length > maxLength)
    return { fault: { field, message: `must have at most ${maxLength} characters` } };
  const value = given.trim();
  if (controlCharacter.test(value) || !value.isWellFormed())
    return { fault: { field, message: 'must not hold control characters' } };
  return kind === 'link' ? readLink(value, field) : { value };
}

const isOneOf = <T extends string>(codes: readonly T[], value: string | undefined): value is T =>
  (codes as readonly (string | undefined)[]).includes(value);
export const isNoticeCode = (value: string | undefined): value is NoticeCode => isOneOf(noticeCodes, value);

/** The values that were read, by the names of their slots. */
type Values = Readonly<Record<string, string>>;

/** Reads the sources. @param prefix - of the fields that faults name. */
function readValues(
  data: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, Source>>,
  required: readonly string[],
  prefix: string,
): { readonly values: Values; readonly faults: FaultDetail[] } {
  const faults: FaultDetail[] = [];
  const values: Record<string, string> = {};
  for (const [name, source] of Object.entries(known)) {
    const results = findKeys(data, source).map((key) => readValue(data[key], source, `${prefix}.${key}`));
    faults.push(...results.flatMap((result) => ('fault' in result ? result.fault : [])));
    const [first] = results;
    if (first && 'value' in first) values[name] = first.value;
    if (!first && required.includes(name))
      faults.push({ field: `${prefix}.${source.keys[0] ?? name}`, message: 'is required' });
  }
  return { values, faults };
}

interface ItemValues extends Values {
  readonly name: string;
  readonly state: StateCode;
}

const isItem = (values: Values): values is ItemValues => isOneOf(stateCodes, values['state']);

const MAX_ITEMS = 50;

/** Reads the list of a template that has one. */
function readItems(given: unknown): { readonly items: ItemValues[]; readonly faults: FaultDetail[] } {
  const field = 'templateData.items';
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_ITEMS)
    return { items: [], faults: [{ field, message: `must be a list of 1 to ${MAX_ITEMS} items` }] };
  const faults: FaultDetail[] = [];
  const items = given.flatMap((item: unknown, index) => {
    const data = typeof item === 'object' && item !== null ? { ...item } : {};
    const read = readValues(data, itemSources, ['name', 'state'], `${field}.${index}`);
    faults.push(...read.faults);
    if (isItem(read.values)) return [read.values];
    if (read.faults.length === 0) faults.push({ field: `${field}.${index}.state`, message: 'is unknown' });
    return [];
  });
  return { items, faults };
}

const DEFAULT_PRODUCT = 'Workspace';
export const DEFAULT_LANGUAGE: Language = 'en';

/** The look of a mail, besides its data. */
export interface Look {
  /** In place of the name of the brand. */
  readonly productName?: string | undefined;
  readonly brand?: Brand;
  /** In place of the language of the organisation. */
  readonly language?: Language | undefined;
}

const DEFAULT_ACCENT = '#2f5bd7';
const MAX_LOGO_WIDTH = 240;
const MAX_LOGO_HEIGHT = 48;

/** The id by which the HTML part refers to the logo (RFC 2392). */
export const LOGO_ID = 'logo@brand';

/** Returns the colour, white or near-black, that is easier to read on the accent (WCAG 2.2, relative luminance). */
function chooseTextColor(accent: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(accent.slice(at, at + 2), 16) / 255;
    return channel <= 0.040_45 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#111827' : '#ffffff';
}

function toLook({ logo, accentColor = DEFAULT_ACCENT, footer = '' }: Brand, product: string) {
  const scale = logo ? Math.min(1, MAX_LOGO_WIDTH / logo.width, MAX_LOGO_HEIGHT / logo.height) : 1;
  const toPixels = (side = 0) => String(Math.max(1, Math.round(side * scale)));
  return {
    logo: logo ? `cid:${LOGO_ID}` : '',
    logoWidth: toPixels(logo?.width),
    logoHeight: toPixels(logo?.height),
    wordmark: logo ? '' : product,
    accent: accentColor,
    onAccent: chooseTextColor(accentColor),
    address: footer,
  };
}

const DURATION_UNITS = [
  ['day', 24 * 60],
  ['hour', 60],
  ['minute', 1],
] as const;

/** @returns the duration in the largest unit that fits, such as "10 minutes", rounded down so that it isn't overstated. */
function describeDuration(given: string, language: Language): string {
  const minutes = Math.floor(Number(given));
  if (!(minutes >= 1)) return '';
  const [unit, size] = DURATION_UNITS.find(([, length]) => minutes >= length) ?? DURATION_UNITS[2];
  const style = { style: 'unit', unit, unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(language, style).format(Math.floor(minutes / size));
}

const TIMES = ['time', 'expiresAt', 'revokedFrom', 'unusedSince'] as const;
const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE' };
const isoTime = /^\d{4}-\d\d-\d\d(?<clock>T\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z)?$/;

/** @returns a day, or a time to the minute, in the words of the language; a time that is in words already unchanged. */
function describeTime(given: string, language: Language): string {
  const match = isoTime.exec(given);
  const at = Date.parse(given);
  if (!match || Number.isNaN(at)) return given;
  const hasClock = match.groups?.['clock'] !== undefined;
  const timeStyle = hasClock ? 'short' : undefined;
  const style = { dateStyle: 'long', timeStyle, timeZone: 'UTC' } as const;
  return `${new Intl.DateTimeFormat(LOCALES[language], style).format(at)}${hasClock ? ' UTC' : ''}`;
}

const noValues = Object.fromEntries(slots.map((slot) => [slot, ''])) as Record<Slot, string>;

/** @returns the values for texts: a slot without one is empty. */
function toTextValues(values: Values, language: Language): View {
  const times = TIMES.flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [[name, describeTime(value, language)]];
  });
  const many = Number(values['count']) > 1 ? (values['count'] ?? '') : '';
  return { ...noValues, ...values, ...Object.fromEntries(times), many, items: [] };
}

const capitalize = (text: string, language: Language): string =>
  text.slice(0, 1).toLocaleUpperCase(language) + text.slice(1);

/** @returns the texts of the event that the mail reports: those of its template, and those of the notice. */
function describeEvent(
  type: InternalTemplateType,
  view: View,
  { notice, topic }: Values,
  language: Language,
) {
  const texts = noticeTexts[language];
  const own: NoticeTexts = {
    ...(isNoticeCode(type) && texts[type]),
    ...(isNoticeCode(notice) && texts[notice]),
  };
  const values = { ...view, topic: (isNoticeCode(topic) && texts[topic].headline?.(view)) || '' };
  const message = own.message?.(values) ?? '';
  return {
    headline: own.headline?.(values) ?? '',
    message,
    advice: own.advice?.(values) ?? '',
    // The message goes on after the greeting, in German in lower case.
    preview: capitalize(message, language),
  };
}

function toView(
  type: InternalTemplateType,
  values: Values,
  items: readonly ItemValues[],
  { productName, brand = {}, language = brand.language ?? DEFAULT_LANGUAGE }: Look,
): View {
  const { companyName = '', validFor, validForMinutes = '' } = values;
  const product = productName?.trim() || brand.name || companyName || DEFAULT_PRODUCT;
  const view = {
    ...toTextValues(values, language),
    ...toLook(brand, product),
    product,
    forCompany: companyName === product ? '' : companyName,
    validFor: validFor ?? describeDuration(validForMinutes, language),
    items: items.map((item): Item => ({
      name: item.name,
      end: stateTexts[language][item.state](toTextValues(item, language)),
    })),
  };
  const { time, device, location, ipAddress, changedBy } = view;
  return {
    ...view,
    facts: changedBy || time || device || location || ipAddress,
    ...describeEvent(type, view, values, language),
  };
}

/**
 * Reads the values of a template from the caller's free-form map, and ignores unknown keys.
 *
 * @returns the view, or all faults of the data.
 */
export function createView(
  type: InternalTemplateType,
  data: Readonly<Record<string, unknown>>,
  look: Look = {},
): { readonly view: View } | { readonly faults: readonly FaultDetail[] } {
  const { values, faults } = readValues(data, listSources(type), sources[type].required, 'templateData');
  if (values['notice'] !== undefined && !isNoticeCode(values['notice']))
    faults.push({ field: 'templateData.notice', message: 'is unknown' });
  const list =
    hasItems(type) && data['items'] !== undefined ? readItems(data['items']) : { items: [], faults: [] };
  faults.push(...list.faults);
  return faults.length > 0 ? { faults } : { view: toView(type, values, list.items, look) };
}
