import { isDisplayName, readEmailAddress } from '@platform/service-kit';
import { normaliseEmail } from '../../members/members/service.js';

/** The claims of a provider about a person. Their values can have any type. */
export type Claims = Readonly<Record<string, unknown>>;

const ENTRA = /^https:\/\/login\.microsoftonline\.(?:com|us)\//;
const TRUE: ReadonlySet<unknown> = new Set([true, 1, '1', 'true']);

/** A subject has at most 255 characters (OpenID Connect Core §2). */
const SUBJECT = /^\P{C}{1,255}$/u;

/** @returns undefined when it is no subject that could be stored. */
export const readSubject = ({ sub }: Claims): string | undefined =>
  typeof sub === 'string' && SUBJECT.test(sub) ? sub : undefined;

/**
 * Returns the normalised address that the provider vouches for. Entra ID has no `email_verified`: it says with `xms_edov`
 * that the owner of the address's domain was verified.
 *
 * @returns undefined when there is no address that mail would accept, or it is not verified.
 */
export function readVerifiedEmail(issuer: string, claims: Claims): string | undefined {
  const { email, email_verified: isVerified, xms_edov: isDomainOwnerVerified } = claims;
  const address = typeof email === 'string' ? readEmailAddress(normaliseEmail(email)) : undefined;
  const isVouchedFor = isVerified === true || (ENTRA.test(issuer) && TRUE.has(isDomainOwnerVerified));
  return isVouchedFor ? address : undefined;
}

/** Returns the address as the provider sent it, for the audit; undefined when it is no printable text. */
export const readSentEmail = ({ email }: Claims): string | undefined =>
  typeof email === 'string' && /^\P{C}{1,254}$/u.test(email) ? email : undefined;

/** Returns the name to give a new member. */
export function readFullName({ name }: Claims, email: string): string {
  const text = typeof name === 'string' ? name.trim() : '';
  return text !== '' && text.length <= 200 && isDisplayName(text)
    ? text
    : email.slice(0, email.lastIndexOf('@'));
}

/** Returns whether the provider says that it asked for a second factor, in one of the ways that the organisation accepts. */
export function hasSecondFactor({ amr, acr }: Claims, accepted: readonly string[]): boolean {
  const said = [acr, ...(Array.isArray(amr) ? (amr as unknown[]) : [])];
  return said.some((value) => typeof value === 'string' && accepted.includes(value));
}

const MAX_GROUP_NAME_LENGTH = 200;

/**
 * The groups that a provider states: a list, or why there is none. `overage`: there are too many for the token, and it has
 * a link in place of them (Entra ID, `_claim_names`). `absent`: the provider says nothing about groups.
 */
export type StatedGroups = readonly string[] | 'overage' | 'absent';

/** Reads the groups of a person. What is no name that could be shown is left out. [GRP-5] */
export function readGroups(claims: Claims, claim: string): StatedGroups {
  const stated = claims[claim];
  if (typeof stated === 'string' || Array.isArray(stated)) {
    const names = [stated]
      .flat()
      .filter((name): name is string => typeof name === 'string')
      .map((name) => name.trim());
    return names.filter((name) => name.length <= MAX_GROUP_NAME_LENGTH && isDisplayName(name));
  }
  const { _claim_names: elsewhere, hasgroups: isOverage } = claims;
  const isElsewhere = typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, claim);
  return isElsewhere || TRUE.has(isOverage) ? 'overage' : 'absent';
}

/** The last second that a date can hold. */
const LAST_SECOND = 8.64e12;

/** Returns when the person last authenticated at the provider (OpenID Connect Core §2); undefined when it does not say. */
export const readAuthenticationTime = ({ auth_time: seconds }: Claims): Date | undefined =>
  typeof seconds === 'number' && seconds > 0 && seconds <= LAST_SECOND
    ? new Date(Math.floor(seconds * 1_000))
    : undefined;
