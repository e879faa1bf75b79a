import { domainToASCII } from 'node:url';

// Matches characters that could end a header or an address early, or make one look like another (bidirectional controls).
const forbidden = /[\p{Cc}\p{Cf}\p{Z}\p{Cs}<>()[\]\\,;:"@]/u;
/** Matches characters that the parser of URLs, which converts domains, takes for another part or another character. */
const special = /[%/?#]/;
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/*
 * The forms below, as the tools of other languages can read them. The patterns allow whatever is accepted, and a little more:
 * they know neither the lengths of the parts nor the rules for international domains (RFC 5891).
 */
const ATOM = String.raw`[^\s"(),.:;<>@[\\\]\u0000-\u001f\u007f-\u009f\u202a-\u202e]+`;
/** An ASCII letter, digit or underscore, or any character beyond ASCII; and the same without the digits. */
const LETTER = String.raw`[^\u0000-/:-@[-^\u0060{-\u00a0\u2028-\u202e]`;
const NO_DIGIT = String.raw`[^\u0000-@[-^\u0060{-\u00a0\u2028-\u202e]`;
const MORE = `(-+${LETTER}+)`;
const DOMAIN = `(${LETTER}+${MORE}*\\.)*([0-9]*${NO_DIGIT}${LETTER}*${MORE}*|[0-9]+${MORE}+)`;
export const DOMAIN_PATTERN = `^${DOMAIN}$`;
export const EMAIL_ADDRESS_PATTERN = `^${ATOM}(\\.${ATOM})*@${DOMAIN}$`;

/** No domain is longer, whatever its characters are in ASCII. */
const MAX_GIVEN_LENGTH = 1_024;

/** @returns the domain in its ASCII form (RFC 5891), or undefined when the text is no domain. */
export function readDomain(text: string): string | undefined {
  if (text === '' || text.length > MAX_GIVEN_LENGTH) return undefined;
  if (forbidden.test(text) || special.test(text)) return undefined;
  const ascii = domainToASCII(text);
  const isName =
    ascii.length > 0 && ascii.length <= 253 && ascii.split('.').every((part) => label.test(part));
  // The URL standard reads a name whose last label is a number as an IPv4 address.
  return isName && !/(?:^|\.)\d+$/.test(ascii) ? ascii : undefined;
}

/**
 * Reads a single address (RFC 5321 §4.1.2, RFC 6531): a dot-atom, in which Unicode is allowed, and a domain name. A
 * display name, a quoted local part or an address literal is rejected.
 *
 * @returns the address with the domain in its ASCII form, or undefined when the text is no address.
 */
export function readEmailAddress(text: string): string | undefined {
  if (text.length > MAX_GIVEN_LENGTH) return undefined;
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  const domain = readDomain(text.slice(at + 1));
  if (at < 1 || domain === undefined || forbidden.test(local) || !local.isWellFormed()) return undefined;
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..')) return undefined;
  if (Buffer.byteLength(local) > 64) return undefined;
  const address = `${local}@${domain}`;
  return address.length <= 254 ? address : undefined;
}
