/** A suppression ends after this many days, because mailboxes come back. */
export const SUPPRESSED_DAYS = 90;

/**
 * The templates of mails that are left out for suppressed addresses, when a caller's token sends them. Codes, resets and
 * invitations are always tried, and so is everything that the platform itself sends.
 */
export const SUPPRESSIBLE_TEMPLATES = ['accountCreation', 'suspiciousLoginAttempt'] as const;
