import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/*
 * A browser holds a session in a cookie that scripts cannot read. Browsers also send cookies with requests that pages of
 * other sites cause, so a cookie counts only together with a proof that a page of this origin made the request:
 *
 *   1. the browser says so, by `Sec-Fetch-Site` (Fetch Metadata) or by `Origin`, and
 *   2. the request repeats a token that only pages of this origin can read (a signed double-submit cookie).
 *
 * The token is an HMAC with the session as its key. Every service can check it without another secret or a lookup,
 * and the token of one session is of no use in another.
 */

/** The header that repeats the token on requests of scripts. Forms have a field for it. */
export const CSRF_HEADER = 'x-csrf-token';

const NAME = 'platform';

type Headers = Pick<IncomingMessage, 'headers' | 'method'>;

/** Returns whether a host name always means this machine (RFC 6761 §6.3, RFC 5735 §3). */
export const isLoopbackHost = (hostname: string): boolean =>
  /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i.test(hostname);

/** @returns undefined when the cookie is missing, empty, or sent twice: it would be unclear which one counts. */
function findCookie(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined;
  const values = header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 && values[0] !== '' ? values[0] : undefined;
}

function areEqual(expected: string, presented: unknown): boolean {
  if (typeof presented !== 'string' || presented.length !== expected.length) return false;
  const [left, right] = [Buffer.from(expected), Buffer.from(presented)];
  return left.length === right.length && timingSafeEqual(left, right);
}

const toCsrfToken = (session: string): string =>
  createHmac('sha256', session).update('csrf').digest('base64url');

const readsOnly = (method: string | undefined): boolean => method === 'GET' || method === 'HEAD';

/**
 * @param publicUrl - the URL at which browsers reach the platform. With HTTPS, the cookies have the prefix `__Host-`
 *   (RFC 6265bis §4.1.3.2), so that no other host of the domain can set them. Without, they work on this machine only.
 */
export function createSessionCookies(publicUrl: string) {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isSecure = protocol === 'https:';
  const isAvailable = isSecure || isLoopbackHost(hostname);
  const toName = (name: string): string => `${isSecure ? '__Host-' : ''}${NAME}_${name}`;
  const attributes = `; Path=/; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  const setCookie = (name: string, value: string, maxAgeSeconds: number): string =>
    `${toName(name)}=${value}; Max-Age=${maxAgeSeconds}${attributes}`;
  const setHidden = (...cookie: Parameters<typeof setCookie>): string => `${setCookie(...cookie)}; HttpOnly`;
  const readCookie = ({ headers }: Headers, name: string) =>
    isAvailable ? findCookie(headers.cookie, toName(name)) : undefined;
  return {
    /** False when the platform is reached over plain HTTP and not on this machine: a browser cannot hold a session then. */
    isAvailable,

    /** Returns the session that the browser sent; undefined when there is none, or more than one. */
    readSession: (request: Headers): string | undefined => readCookie(request, 'session'),

    /** Returns the token that pages of the session have to repeat. */
    toCsrfToken,

    /** Returns whether the browser says that a page of this origin made the request. */
    isSameOrigin({ headers, method }: Headers): boolean {
      const site = headers['sec-fetch-site'];
      if (site !== undefined) return site === 'same-origin';
      // Browsers before 2023 send `Origin` alone, and with requests that change something only.
      return headers.origin === undefined ? readsOnly(method) : headers.origin === origin;
    },

    /** Returns whether the presented token is that of the session. The comparison takes the same time for any token. */
    isCsrfToken: (session: string, presented: unknown): boolean => areEqual(toCsrfToken(session), presented),

    /** Returns the values of `Set-Cookie` that open a session in the browser. */
    toOpen: (session: string, maxAgeSeconds: number): string[] => [
      setHidden('session', session, maxAgeSeconds),
      setCookie('csrf', toCsrfToken(session), maxAgeSeconds),
    ],

    /** Returns the values of `Set-Cookie` that delete both cookies. */
    toClose: (): string[] => [setHidden('session', '', 0), setCookie('csrf', '', 0)],

    /** Returns a value of `Set-Cookie` for a cookie of identity's own that scripts cannot read. */
    toCookie: setHidden,

    /** Reads such a cookie. */
    readCookie,
  };
}

export type SessionCookies = ReturnType<typeof createSessionCookies>;
