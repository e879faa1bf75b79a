import { parseUrl } from '@platform/service-kit';

/** The folder of the pages below `PUBLIC_URL`. Mailed links lead here when there is no web app. */
export const SIGN_IN_PATH = '/sign-in';
export const SIGN_OUT_PATH = '/sign-out';
/** The page on which a session is confirmed. */
export const CONFIRM_SESSION_PATH = `${SIGN_IN_PATH}/confirm`;

/** The path that a sign-in continues at by default. */
const HOME = '/';

/** A host that no path can name, to find out whether a text leads to another one. */
const OWN = 'http://own.invalid';

/**
 * Returns the path and query to continue at. Only a path of this origin is accepted, so that no link to the sign-in page
 * leads a person who trusts it to another site (open redirect).
 */
export function readReturnTo(value: unknown): string {
  const url = typeof value === 'string' && /^\/[\x21-\x7e]*$/.test(value) ? parseUrl(value, OWN) : undefined;
  if (!url) return HOME;
  const { origin, pathname, search, hash } = url;
  const path = pathname + search + hash;
  // Browsers read `//` and `/\` as the beginning of a host. The parser has resolved what comes before: `/.//host`.
  return origin === OWN && !/^\/[/\\]/.test(path) ? path : HOME;
}

/** Returns the address that asks a person to sign in and brings them back to the path. */
export const toSignInPath = (returnTo: string, page = SIGN_IN_PATH): string =>
  `${page}?${new URLSearchParams({ returnTo }).toString()}`;

/** Returns the path of the page that confirms a session, which comes back to `returnTo` with the confirmation, and to `requestPage` without. */
export const toConfirmPath = (returnTo: string, requestPage?: string): string =>
  `${CONFIRM_SESSION_PATH}?${new URLSearchParams({ returnTo, ...(requestPage && { requestPage }) }).toString()}`;
