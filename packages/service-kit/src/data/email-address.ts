import { domainToASCII } from 'node:url';

// What could end a header or an address early, or make one look like another (bidirectional controls).
const forbidden = /[\p{Cc}\p{Cf}\p{Z}\p{Cs}<>()[\]\\,;:"@]/u;
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** @returns the domain in its ASCII form (RFC 5891), or undefined when it isn't one. */
export function readDomain(text: string): string | undefined {
  if (text === '' || forbidden.test(text) || text.includes('%') || text.includes('/')) return undefined;
  const ascii = domainToASCII(text);
  const isName =
    ascii.length > 0 && ascii.length <= 253 && ascii.split('.').every((part) => label.test(part));
  // A name whose last label is a number is an IPv4 address to the URL standard.
  return isName && !/(?:^|\.)\d+$/.test(ascii) ? ascii : undefined;
}

/**
 * One bare address (RFC 5321 §4.1.2, RFC 6531): a dot-atom, Unicode allowed, and a domain name. No display
 * name, no quoted local part, no address literal.
 *
 * @returns it with the domain in its ASCII form, or undefined.
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
