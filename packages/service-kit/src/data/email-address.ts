import { domainToASCII } from 'node:url';

// Matches characters that could end a header or an address early, or make one look like another (bidirectional controls).
const forbidden = /[\p{Cc}\p{Cf}\p{Z}\p{Cs}<>()[\]\\,;:"@]/u;
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** @returns the domain in its ASCII form (RFC 5891), or undefined when the text is no domain. */
export function readDomain(text: string): string | undefined {
  if (text === '' || forbidden.test(text) || text.includes('%') || text.includes('/')) return undefined;
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
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  const domain = readDomain(text.slice(at + 1));
  if (at < 1 || domain === undefined || forbidden.test(local) || !local.isWellFormed()) return undefined;
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..')) return undefined;
  if (Buffer.byteLength(local) > 64) return undefined;
  const address = `${local}@${domain}`;
  return address.length <= 254 ? address : undefined;
}
