/** A suppression ends after this many days, because mailboxes come back. */
export const SUPPRESSED_DAYS = 90;

/**
 * The templates of mails that are left out for suppressed addresses, when a caller's token sends them. Codes, resets and
 * invitations are always tried, and so is everything that the platform itself sends.
 */
export const SUPPRESSIBLE_TEMPLATES = ['accountCreation', 'suspiciousLoginAttempt'] as const;

/** No such mailbox, no such domain, a domain that takes no mail, a disabled mailbox (RFC 3463, RFC 7505). */
const suppressing: ReadonlySet<string> = new Set(['5.1.1', '5.1.2', '5.1.10', '5.2.1']);

/** Whether mails to a recipient that was refused with this enhanced status code are pointless. */
export const isSuppressingStatus = (status: string | undefined): boolean =>
  status !== undefined && suppressing.has(status);
