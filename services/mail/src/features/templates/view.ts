import type { FaultDetail } from '@platform/service-kit';
import type { Slot } from '../../generated/templates.js';

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

/** Beside the five, what only the platform's own services send. */
export const internalTemplateTypes = [...templateTypes, 'smtpServerChanged'] as const;
export type InternalTemplateType = (typeof internalTemplateTypes)[number];

export const isInternalTemplateType = (value: unknown): value is InternalTemplateType =>
  (internalTemplateTypes as readonly unknown[]).includes(value);

/** What fills the slots of a template, not escaped yet; an empty text leaves its part out. */
export type View = Readonly<Record<Slot, string>>;

/** The keys of `templateData` that a value is taken from, the first that is there wins. */
interface Source {
  readonly keys: readonly string[];
  readonly kind: 'text' | 'link';
  readonly maxLength: number;
}

const text = (maxLength: number, ...keys: string[]): Source => ({ keys, kind: 'text', maxLength });
const link = (...keys: string[]): Source => ({ keys: [...keys, 'link'], kind: 'link', maxLength: 2_048 });

const common = {
  userName: text(200, 'userName', 'name'),
  companyName: text(200, 'companyName', 'orgName'),
} as const;

/** How long a code or a link works, in words: "10 minutes". */
const validFor = text(60, 'validFor');

/** Where and when something was done. */
const facts = {
  time: text(100, 'time'),
  device: text(300, 'device'),
  location: text(200, 'location'),
  ipAddress: text(64, 'ipAddress'),
} as const;

/** What else each template takes; `required` names those it is useless without. */
const sources: Readonly<
  Record<
    InternalTemplateType,
    { readonly required: readonly string[]; readonly optional: Readonly<Record<string, Source>> }
  >
> = {
  loginWithOTP: { required: ['otp'], optional: { otp: text(32, 'otp'), validFor } },
  resetPassword: { required: ['link'], optional: { link: link('resetLink'), validFor, ...facts } },
  accountCreation: { required: [], optional: { link: link('loginLink') } },
  appuserInvite: {
    required: ['link'],
    optional: { link: link('inviteLink'), validFor, invitedBy: text(200, 'invitedBy') },
  },
  suspiciousLoginAttempt: { required: [], optional: { link: link('resetLink'), ...facts } },
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

/** C0, C1 and the line separators: nothing of a mail's text needs them in a value. */
const controlCharacter = /[\p{Cc}\u2028\u2029]/u;

type Reading = { readonly value: string } | { readonly fault: FaultDetail };

function readLink(value: string, field: string): Reading {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url && (url.protocol === 'https:' || url.protocol === 'http:')
    ? { value: url.href }
    : { fault: { field, message: 'must be a link that starts with https:// or http://' } };
}

/** Beyond this, what was read is another number than what was written. */
const isExact = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;

function readValue(data: Readonly<Record<string, unknown>>, source: Source): Reading {
  const key = source.keys.find(
    (name) => Object.hasOwn(data, name) && data[name] !== null && data[name] !== '',
  );
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

const DEFAULT_BRAND = 'Workspace';

function toView(values: Readonly<Record<string, string>>, productName: string | undefined): View {
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
    changedBy: values.changedBy ?? '',
    oldServer: values.oldServer ?? '',
    newServer: values.newServer ?? '',
  };
}

/**
 * Reads what a template needs from the caller's free-form map; keys that it doesn't know are left alone.
 *
 * @returns the view, or every fault of the data.
 */
export function createView(
  type: InternalTemplateType,
  data: Readonly<Record<string, unknown>>,
  productName?: string,
): { readonly view: View } | { readonly faults: readonly FaultDetail[] } {
  const faults: FaultDetail[] = [];
  const values: Record<string, string> = {};
  const { required, optional } = sources[type];
  for (const [name, source] of Object.entries({ ...common, ...optional })) {
    const reading = readValue(data, source);
    if ('fault' in reading) faults.push(reading.fault);
    else if (reading.value !== '') values[name] = reading.value;
    else if (required.includes(name))
      faults.push({ field: `templateData.${source.keys[0] ?? name}`, message: 'is required' });
  }
  return faults.length > 0 ? { faults } : { view: toView(values, productName) };
}
