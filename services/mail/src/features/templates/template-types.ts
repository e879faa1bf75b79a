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
  'crawlFailures',
  'connectedService',
  'smtpTest',
] as const;
export type InternalTemplateType = (typeof internalTemplateTypes)[number];

export const isInternalTemplateType = (value: unknown): value is InternalTemplateType =>
  (internalTemplateTypes as readonly unknown[]).includes(value);

const SECURITY_NOTICES: ReadonlySet<InternalTemplateType> = new Set([
  'suspiciousLoginAttempt',
  'smtpServerChanged',
  'passwordChanged',
  'tokenAlert',
]);

/** Whether mails of this template warn somebody: two of them are better than none. */
export const isSecurityNotice = (type: InternalTemplateType): boolean => SECURITY_NOTICES.has(type);

/** Whether the template can have the list `items`, each with a `name` and a `state`. */
export const hasItems = (type: InternalTemplateType): boolean =>
  type === 'tokenAlert' || type === 'tokenExpiring' || type === 'crawlFailures';
