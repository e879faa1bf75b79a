import { type InternalTemplateType, templateTypes } from './template-types.js';

/** The keys of `templateData` that may provide a value. The first given one is used. */
export interface Source {
  readonly keys: readonly string[];
  /** Codes and links let their holder in: what is kept of a mail never contains them. */
  readonly kind: 'text' | 'code' | 'link';
  readonly maxLength: number;
}

const text = (maxLength: number, ...keys: string[]): Source => ({ keys, kind: 'text', maxLength });
const code = (maxLength: number, ...keys: string[]): Source => ({ keys, kind: 'code', maxLength });
const link = (...keys: string[]): Source => ({
  keys: [...keys, 'link'],
  kind: 'link',
  maxLength: 2_048,
});

const common = {
  // As long as the `name` of a notice, which has the same key.
  userName: text(300, 'userName', 'name'),
  companyName: text(200, 'companyName', 'orgName'),
} as const;

/** The validity of a code or link: in words, such as "10 minutes", or as a number, for which the language has words. */
const validity = { validFor: text(60, 'validFor'), validForMinutes: text(10, 'validForMinutes') } as const;

/** The time and place of the event that a mail reports. */
const facts = {
  time: text(100, 'time'),
  device: text(300, 'device'),
  location: text(200, 'location'),
  ipAddress: text(64, 'ipAddress'),
} as const;

const name = text(300, 'name');
/** Of a service account. */
const account = text(500, 'account');
const days = text(10, 'days');
const expiresAt = text(100, 'expiresAt');

/** The facts that `notices` in the texts put into words. */
const notice = {
  notice: text(50, 'notice'),
  name,
  account,
  days,
  expiresAt,
  /** For a mail about several things: how many there are, and how many of them it does not list. */
  count: text(10, 'count'),
  hidden: text(10, 'hidden'),
  application: text(500, 'application'),
  by: text(500, 'by'),
  descendants: text(10, 'descendants'),
  domain: text(500, 'domain'),
  email: text(500, 'email'),
  hasNewPassword: text(5, 'hasNewPassword'),
  isJustInTime: text(5, 'isJustInTime'),
  isRequired: text(5, 'isRequired'),
  issuer: text(500, 'issuer'),
  limit: text(10, 'limit'),
  owner: text(500, 'owner'),
  reason: text(500, 'reason'),
  revoked: text(5, 'revoked'),
  scopes: text(500, 'scopes'),
  /** The code of another notice. */
  topic: text(50, 'topic'),
  url: text(500, 'url'),
  link: link(),
  ...facts,
} as const;

/** The facts of an item, which the text of its `state` puts into words. */
export const itemSources: Readonly<Record<string, Source>> = {
  name,
  state: text(50, 'state'),
  account,
  days,
  expiresAt,
  count: text(10, 'count'),
  reason: text(500, 'reason'),
  revokedFrom: text(100, 'revokedFrom'),
  time: text(100, 'time'),
  unusedSince: text(100, 'unusedSince'),
};

export const listSources = (type: InternalTemplateType): Readonly<Record<string, Source>> => ({
  ...common,
  ...sources[type].optional,
});

/** Null and blank texts count as not given. */
const isGiven = (value: unknown): boolean =>
  typeof value === 'string' ? value.trim() !== '' : value !== null && value !== undefined;

/** @returns the keys of the source that are given; the first one provides the value. */
export const findKeys = (data: Readonly<Record<string, unknown>>, { keys }: Source): string[] =>
  keys.filter((key) => Object.hasOwn(data, key) && isGiven(data[key]));

/** C0 and C1 controls and line separators, which no value needs and which could alter the text of a mail. */
const CONTROLS = String.raw`\u0000-\u001f\u007f-\u009f\u2028\u2029`;
export const controlCharacter = new RegExp(`[${CONTROLS}]`);
export const linkStart = /^https?:\/\/[^\s/\\?#]/i;

/** Returns the checks of `view.ts` on a value, as keywords. White space around a value does not count. */
function documentValue({ kind, maxLength }: Source): object {
  const url = String.raw`[Hh][Tt][Tt][Pp][Ss]?://[^\s/\\?#${CONTROLS}]`;
  const content = kind === 'link' ? `(${url}[^${CONTROLS}]*)?` : `[^${CONTROLS}]*`;
  const value = { maxLength, pattern: String.raw`^\s*${content}\s*$` };
  if (kind === 'link') return { type: ['string', 'null'], ...value };
  const range = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
  return { type: ['string', 'number', 'null'], ...value, ...range };
}

const documentValues = (list: readonly Source[]): object =>
  Object.fromEntries(list.flatMap((source) => source.keys.map((key) => [key, documentValue(source)])));

/** At least one of the keys is given. */
const documentRequired = ({ keys }: Source): object => ({
  anyOf: keys.map((key) => ({
    required: [key],
    properties: { [key]: { type: ['string', 'number'], pattern: String.raw`\S` } },
  })),
});

/** The rules for the data of each template that callers may send, as keywords of a body. */
export const documentTemplates = (): object[] =>
  templateTypes.map((type) => {
    const known = listSources(type);
    const required = sources[type].required.flatMap((slot) => known[slot] ?? []);
    const data = {
      properties: documentValues(Object.values(known)),
      ...(required.length > 0 && { allOf: required.map(documentRequired) }),
    };
    return {
      if: { properties: { emailTemplateType: { const: type } } },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { properties: { templateData: data } },
    };
  });

/** The values of each template in addition to the common ones, and the names of the required ones. */
export const sources: Readonly<
  Record<
    InternalTemplateType,
    { readonly required: readonly string[]; readonly optional: Readonly<Record<string, Source>> }
  >
> = {
  loginWithOTP: { required: ['otp'], optional: { otp: code(32, 'otp'), ...validity } },
  resetPassword: {
    required: ['link'],
    // A link that replaces a code, after too many wrong ones, says so in the subject.
    optional: { link: link('resetLink'), guessed: text(10, 'guessed'), ...validity, ...facts },
  },
  accountCreation: { required: [], optional: { link: link('loginLink') } },
  appuserInvite: {
    required: ['link'],
    optional: { link: link('inviteLink'), ...validity, invitedBy: text(200, 'invitedBy') },
  },
  suspiciousLoginAttempt: { required: [], optional: { link: link('resetLink'), ...facts } },
  passwordChanged: { required: [], optional: { link: link('resetLink'), ...facts } },
  tokenAlert: { required: ['notice'], optional: notice },
  tokenExpiring: { required: ['notice'], optional: notice },
  crawlFailures: { required: ['notice'], optional: notice },
  connectedService: { required: ['notice'], optional: notice },
  smtpTest: { required: [], optional: {} },
  smtpServerChanged: {
    required: ['changedBy'],
    optional: {
      notice: notice.notice,
      link: link(),
      changedBy: text(500, 'changedBy'),
      oldServer: text(600, 'oldServer'),
      newServer: text(600, 'newServer'),
      ...facts,
    },
  },
};
