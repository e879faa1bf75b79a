import type { FaultDetail } from '@platform/service-kit';
import type { ItemSlot, TemplateValues } from '../../generated/templates.js';

export const templateTypes = [
  'loginWithOTP',
  'resetPassword',
  'accountCreation',
  'appuserInvite',
  'suspiciousLoginAttempt',
] as const;
export type TemplateType = (typeof templateTypes)[number];

export const isTemplateType = (value: unknown): value is TemplateType =>
  (templateTypes as readonly unknown[]).includes(value);

/** Adds the templates that only the platform's own services may send. */
export const internalTemplateTypes = [
  ...templateTypes,
  'smtpServerChanged',
  'passwordChanged',
  'tokenAlert',
  'tokenExpiring',
] as const;
export type InternalTemplateType = (typeof internalTemplateTypes)[number];

export const isInternalTemplateType = (value: unknown): value is InternalTemplateType =>
  (internalTemplateTypes as readonly unknown[]).includes(value);

/** The unescaped values for the slots of a template. A part of the template whose value is empty is left out. */
export type View = TemplateValues;
type Item = View['tokens'][number];

/** The keys of `templateData` that may provide a value. The first one that is present is used. */
interface Source {
  readonly keys: readonly string[];
  /** Codes and links let their holder in: what is kept of a mail never contains them. */
  readonly kind: 'text' | 'code' | 'link';
  readonly maxLength: number;
}

const text = (maxLength: number, ...keys: string[]): Source => ({ keys, kind: 'text', maxLength });
const code = (maxLength: number, ...keys: string[]): Source => ({ keys, kind: 'code', maxLength });
const link = (...keys: string[]): Source => ({ keys: [...keys, 'link'], kind: 'link', maxLength: 2_048 });

const common = {
  userName: text(200, 'userName', 'name'),
  companyName: text(200, 'companyName', 'orgName'),
} as const;

/** The validity of a code or link in words, such as "10 minutes". */
const validFor = text(60, 'validFor');

/** The time and place of the event that a mail reports. */
const facts = {
  time: text(100, 'time'),
  device: text(300, 'device'),
  location: text(200, 'location'),
  ipAddress: text(64, 'ipAddress'),
} as const;

export const listSources = (type: InternalTemplateType): Readonly<Record<string, Source>> => ({
  ...common,
  ...sources[type].optional,
});

/** Finds the key that provides a value. */
export const findKey = (data: Readonly<Record<string, unknown>>, { keys }: Source): string | undefined =>
  keys.find((name) => Object.hasOwn(data, name) && data[name] !== null && data[name] !== '');

/** The values of each template in addition to the common ones, and the names of those that it requires. */
const sources: Readonly<
  Record<
    InternalTemplateType,
    { readonly required: readonly string[]; readonly optional: Readonly<Record<string, Source>> }
  >
> = {
  loginWithOTP: { required: ['otp'], optional: { otp: code(32, 'otp'), validFor } },
  resetPassword: { required: ['link'], optional: { link: link('resetLink'), validFor, ...facts } },
  accountCreation: { required: [], optional: { link: link('loginLink') } },
  appuserInvite: {
    required: ['link'],
    optional: { link: link('inviteLink'), validFor, invitedBy: text(200, 'invitedBy') },
  },
  suspiciousLoginAttempt: { required: [], optional: { link: link('resetLink'), ...facts } },
  passwordChanged: { required: [], optional: { link: link('resetLink'), ...facts } },
  tokenAlert: {
    required: ['headline', 'message'],
    optional: { headline: text(100, 'headline'), message: text(1_000, 'message'), ...facts },
  },
  tokenExpiring: {
    required: ['headline'],
    optional: { headline: text(200, 'headline'), more: text(100, 'more'), link: link('tokensLink') },
  },
  smtpServerChanged: {
    required: ['changedBy'],
    optional: {
      changedBy: text(500, 'changedBy'),
      oldServer: text(600, 'oldServer'),
      newServer: text(600, 'newServer'),
      ...facts,
    },
  },
};

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

/** Reads the list of the template `tokenExpiring`. */
function readTokens(given: unknown): { readonly tokens: Item[]; readonly faults: FaultDetail[] } {
  const field = 'templateData.tokens';
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_ITEMS)
    return { tokens: [], faults: [{ field, message: `must be a list of 1 to ${MAX_ITEMS} tokens` }] };
  const faults: FaultDetail[] = [];
  const tokens = given.map((item: unknown, index) => {
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
  return { tokens, faults };
}

const DEFAULT_BRAND = 'Workspace';

function toView(
  values: Readonly<Record<string, string>>,
  tokens: readonly Item[],
  productName: string | undefined,
): View {
  const { userName = '', companyName = '', time = '', device = '', location = '', ipAddress = '' } = values;
  const product = productName?.trim() || companyName || DEFAULT_BRAND;
  const isForCompany = companyName !== '' && companyName !== product;
  return {
    product,
    place: isForCompany ? `${companyName} on ${product}` : product,
    footer: isForCompany ? `Sent by ${product} for ${companyName}.` : `Sent by ${product}.`,
    greeting: userName === '' ? 'Hello,' : `Hello ${userName},`,
    otp: values.otp ?? '',
    link: values.link ?? '',
    validFor: values.validFor ?? '',
    invitation:
      values.invitedBy === undefined ? 'You have been invited' : `${values.invitedBy} has invited you`,
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
    tokens,
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
  productName?: string,
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
  const list = type === 'tokenExpiring' ? readTokens(data['tokens']) : { tokens: [], faults: [] };
  faults.push(...list.faults);
  return faults.length > 0 ? { faults } : { view: toView(values, list.tokens, productName) };
}
