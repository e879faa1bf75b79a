import type { FaultDetail } from '@platform/service-kit';
import type { ItemSlot, Language, TemplateValues } from '../../generated/templates.js';
import type { Brand } from '../brand/brand.js';
import { hasItems, type InternalTemplateType } from './template-types.js';
import { type Source, text, listSources, findKey, sources } from './sources.js';

/** The unescaped values for the slots of a template. A part of the template whose value is empty is left out. */
export type View = TemplateValues;
type Item = View['items'][number];

/** Matches C0 and C1 controls and line separators, which no value needs and which could alter the text of a mail. */
const controlCharacter = /[\p{Cc}\u2028\u2029]/u;

type ReadResult = { readonly value: string } | { readonly fault: FaultDetail };

function readLink(value: string, field: string): ReadResult {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url && (url.protocol === 'https:' || url.protocol === 'http:')
    ? { value: url.href }
    : { fault: { field, message: 'must be a link that starts with https:// or http://' } };
}

/** Rejects larger numbers, because JSON.parse may have rounded them. */
const isExact = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;

function readValue(data: Readonly<Record<string, unknown>>, source: Source): ReadResult {
  const key = findKey(data, source);
  if (key === undefined) return { value: '' };
  const field = `templateData.${key}`;
  const given = data[key];
  if (typeof given !== 'string' && !isExact(given)) return { fault: { field, message: 'must be a text' } };
  const value = String(given).trim();
  if (value.length > source.maxLength)
    return { fault: { field, message: `must have at most ${source.maxLength} characters` } };
  if (controlCharacter.test(value) || !value.isWellFormed())
    return { fault: { field, message: 'must not hold control characters' } };
  return source.kind === 'link' ? readLink(value, field) : { value };
}

const MAX_ITEMS = 50;
const itemSources: Readonly<Record<ItemSlot, Source>> = {
  name: text(300, 'name'),
  end: text(200, 'end'),
};

/** Reads the list of a template that has one. */
function readItems(given: unknown): { readonly items: Item[]; readonly faults: FaultDetail[] } {
  const field = 'templateData.items';
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_ITEMS)
    return { items: [], faults: [{ field, message: `must be a list of 1 to ${MAX_ITEMS} items` }] };
  const faults: FaultDetail[] = [];
  const items = given.map((item: unknown, index) => {
    const data = typeof item === 'object' && item !== null ? { ...item } : {};
    const read = (name: ItemSlot): string => {
      const result = readValue(data, itemSources[name]);
      if ('value' in result && result.value !== '') return result.value;
      const message = 'fault' in result ? result.fault.message : 'is required';
      faults.push({ field: `${field}.${index}.${name}`, message });
      return '';
    };
    return { name: read('name'), end: read('end') };
  });
  return { items, faults };
}

const DEFAULT_PRODUCT = 'Workspace';
export const DEFAULT_LANGUAGE: Language = 'en';

/** What a mail looks like, besides its data. */
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

function toView(
  values: Readonly<Record<string, string>>,
  items: readonly Item[],
  { productName, brand = {}, language = brand.language ?? DEFAULT_LANGUAGE }: Look,
): View {
  const { userName = '', companyName = '', time = '', device = '', location = '', ipAddress = '' } = values;
  const product = productName?.trim() || brand.name || companyName || DEFAULT_PRODUCT;
  return {
    ...toLook(brand, product),
    product,
    companyName,
    forCompany: companyName === product ? '' : companyName,
    userName,
    otp: values.otp ?? '',
    link: values.link ?? '',
    validFor: values.validFor ?? describeDuration(values.validForMinutes ?? '', language),
    guessed: values.guessed ?? '',
    invitedBy: values.invitedBy ?? '',
    facts: time || device || location || ipAddress,
    time,
    device,
    location,
    ipAddress,
    headline: values.headline ?? '',
    message: values.message ?? '',
    changedBy: values.changedBy ?? '',
    oldServer: values.oldServer ?? '',
    newServer: values.newServer ?? '',
    more: values.more ?? '',
    items,
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
  const faults: FaultDetail[] = [];
  const values: Record<string, string> = {};
  const { required } = sources[type];
  for (const [name, source] of Object.entries(listSources(type))) {
    const result = readValue(data, source);
    if ('fault' in result) faults.push(result.fault);
    else if (result.value !== '') values[name] = result.value;
    else if (required.includes(name))
      faults.push({ field: `templateData.${source.keys[0] ?? name}`, message: 'is required' });
  }
  const list = hasItems(type) ? readItems(data['items']) : { items: [], faults: [] };
  faults.push(...list.faults);
  return faults.length > 0 ? { faults } : { view: toView(values, list.items, look) };
}
