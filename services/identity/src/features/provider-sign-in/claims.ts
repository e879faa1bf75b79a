import { isDisplayName } from '@platform/service-kit';
import { normaliseEmail } from '../users/service.js';

/** What a provider says about a person. The values are whatever it sent. */
export type Claims = Readonly<Record<string, unknown>>;

const ENTRA = /^https:\/\/login\.microsoftonline\.(?:com|us)\//;
const TRUE: ReadonlySet<unknown> = new Set([true, 1, '1', 'true']);

/**
 * Returns the normalised address that the provider vouches for. Entra ID has no `email_verified`: it says with `xms_edov`
 * that the owner of the address's domain was verified.
 *
 * @returns undefined when there is no address, or it is not verified.
 */
export function readVerifiedEmail(issuer: string, claims: Claims): string | undefined {
  const { email, email_verified: isVerified, xms_edov: isDomainOwnerVerified } = claims;
  if (typeof email !== 'string' || email.length > 254 || !email.includes('@')) return undefined;
  const isVouchedFor = isVerified === true || (ENTRA.test(issuer) && TRUE.has(isDomainOwnerVerified));
  return isVouchedFor ? normaliseEmail(email) : undefined;
}

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
