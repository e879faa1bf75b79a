import type { InternalTemplateType } from './template-types.js';

/** The keys of `templateData` that may provide a value. The first one that is present is used. */
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
  userName: text(200, 'userName', 'name'),
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
  /** Of several things alike that one mail is about; those that the items leave out. */
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

/** Finds the key that provides a value. */
export const findKey = (data: Readonly<Record<string, unknown>>, { keys }: Source): string | undefined =>
  keys.find((key) => Object.hasOwn(data, key) && data[key] !== null && data[key] !== '');

/** The values of each template in addition to the common ones, and the names of those that it requires. */
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
