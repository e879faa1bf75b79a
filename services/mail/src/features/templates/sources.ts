import type { InternalTemplateType } from './template-types.js';

/** The keys of `templateData` that may provide a value. The first one that is present is used. */
export interface Source {
  readonly keys: readonly string[];
  /** Codes and links let their holder in: what is kept of a mail never contains them. */
  readonly kind: 'text' | 'code' | 'link';
  readonly maxLength: number;
}

export const text = (maxLength: number, ...keys: string[]): Source => ({ keys, kind: 'text', maxLength });
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

export const listSources = (type: InternalTemplateType): Readonly<Record<string, Source>> => ({
  ...common,
  ...sources[type].optional,
});

/** Finds the key that provides a value. */
export const findKey = (data: Readonly<Record<string, unknown>>, { keys }: Source): string | undefined =>
  keys.find((name) => Object.hasOwn(data, name) && data[name] !== null && data[name] !== '');

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
  tokenAlert: {
    required: ['headline', 'message'],
    optional: {
      headline: text(100, 'headline'),
      message: text(1_000, 'message'),
      link: link('tokensLink'),
      ...facts,
    },
  },
  tokenExpiring: {
    required: ['headline'],
    optional: { headline: text(200, 'headline'), more: text(100, 'more'), link: link('tokensLink') },
  },
  crawlFailures: {
    required: ['headline'],
    optional: { headline: text(200, 'headline'), more: text(100, 'more'), link: link('crawlsLink') },
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
